package dev.ullage.worker;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.worker.sampling.Sample;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The devices a worker has a ledger for, as the driver describes them now, and which of them it announces. One owner;
 * soft state.
 *
 * <p>A retired device can hold nothing any more: its memory is that of MIG instances, or it was such an instance. It is
 * announced for as long as its ledger promises something on it, because whoever was promised that is to be seen; after
 * that it would only be counted a second time.
 */
final class OwnedDevices {
    private final Map<DeviceId, DeviceInfo> infos = new LinkedHashMap<>();
    private final Set<DeviceId> retired = new TreeSet<>();
    private final Set<DeviceId> promising = new TreeSet<>();

    void add(DeviceInfo device) {
        infos.put(device.id(), device);
        promising.add(device.id());
    }

    /**
     * What a look for devices came to.
     *
     * @param present as they are now; one that is in neither is silent or lost, and stays as it was last seen
     * @param retiredNow those that can hold nothing any more
     * @return those that are retired from now on
     */
    List<DeviceId> seen(List<DeviceInfo> present, Set<DeviceId> retiredNow) {
        for (DeviceInfo device : present) {
            infos.computeIfPresent(device.id(), (id, before) -> device);
            retired.remove(device.id());
        }
        return retiredNow.stream()
                .filter(device -> infos.containsKey(device) && retired.add(device))
                .toList();
    }

    /** @return whether another list is announced from now on */
    boolean reported(DeviceId device, LedgerReport ledger) {
        boolean isPromising = !ledger.grants().isEmpty()
                || !ledger.reservations().orElse(List.of()).isEmpty();
        boolean isChange = isPromising ? promising.add(device) : promising.remove(device);
        return isChange && retired.contains(device);
    }

    /** In the order in which they were found. */
    List<DeviceInfo> announced() {
        return infos.values().stream()
                .filter(device -> !retired.contains(device.id()) || promising.contains(device.id()))
                .toList();
    }

    Optional<DeviceInfo> info(DeviceId device) {
        return Optional.ofNullable(infos.get(device));
    }

    /** A sample; of a device that can hold nothing any more without the amounts it had before. */
    Sample holding(Sample sample) {
        if (!retired.contains(sample.device())) {
            return sample;
        }
        DeviceReading nothing = new DeviceReading(
                Optional.empty(), Optional.empty(), sample.reading().problems());
        return new Sample(sample.device(), nothing, List.of(), sample.age(), sample.quality());
    }
}
