package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.worker.probe.DeviceNames.Match;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Which device a number means to a process. Pure.
 *
 * <p>CUDA numbers the fastest device first, unless {@code CUDA_DEVICE_ORDER=PCI_BUS_ID} has it number them as the
 * driver does. Among equal devices the two are one. Among unequal ones only CUDA knows; a guess would put a rank's
 * limit on a device that it does not use.
 *
 * @param devices in the driver's order
 * @param order which device each number means; empty: the driver's index
 * @param unknown why no number can be told; empty text when each can
 */
record Ordinals(List<DeviceInfo> devices, Optional<List<DeviceId>> order, String unknown) {
    private static final String AS_THE_DRIVER = "PCI_BUS_ID";
    private static final int MAX_NAMES = 4;

    static Ordinals byIndex(List<DeviceInfo> devices) {
        return new Ordinals(devices, Optional.empty(), "");
    }

    /**
     * @param deviceOrder the process's {@code CUDA_DEVICE_ORDER}
     * @param fastestFirst the order in which CUDA numbers devices unless it is told otherwise, where it can be had;
     *     asked only for unequal devices
     */
    static Ordinals of(
            List<DeviceInfo> devices, Optional<String> deviceOrder, Supplier<Optional<List<DeviceId>>> fastestFirst) {
        List<String> names = devices.stream()
                .filter(device -> device.kind() != DeviceKind.MIG && device.kind() != DeviceKind.SIMULATED)
                .map(DeviceInfo::name)
                .distinct()
                .toList();
        if (names.size() <= 1 || deviceOrder.equals(Optional.of(AS_THE_DRIVER))) {
            return byIndex(devices);
        }
        Optional<List<DeviceId>> order = fastestFirst.get();
        if (order.isPresent()) {
            return new Ordinals(devices, order, "");
        }
        String shown = names.stream().limit(MAX_NAMES).collect(Collectors.joining(", "));
        return new Ordinals(
                devices,
                Optional.empty(),
                ("a number means the fastest device first, and which of %s that is only CUDA knows; set"
                                + " CUDA_DEVICE_ORDER=PCI_BUS_ID, or name devices by UUID")
                        .formatted(shown));
    }

    Match at(long number) {
        if (!unknown.isEmpty()) {
            return Match.none(unknown);
        }
        if (order.isEmpty()) {
            return DeviceNames.byIndex(number, devices);
        }
        return number < order.get().size()
                ? DeviceNames.byId(order.get().get((int) number).value(), devices)
                : Match.none("no device of this worker has this number");
    }
}
