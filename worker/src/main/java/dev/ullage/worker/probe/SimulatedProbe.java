package dev.ullage.worker.probe;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.SimulatedSpec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Devices that exist only because somebody asked for them by name. What ranks say they use is what these devices "use",
 * so that everything above a probe can be tried without a GPU.
 *
 * <p>The same node name and spec give the same UUIDs, so that a worker's ledger fits after a restart. Used + free +
 * reserved = total holds in every reading, with a reserve of zero that is known to be zero.
 *
 * <p>Threads: any; one lock around the charges, held for no longer than a sum takes. State: the charges, soft.
 */
public final class SimulatedProbe implements GpuProbe {
    private final List<DeviceInfo> devices;
    private final Map<DeviceId, Charges> chargesByDevice;

    /** What one device holds for whom. Guarded by the probe. */
    private static final class Charges {
        private final MemoryBytes total;
        private final Map<Long, MemoryBytes> byPid = new TreeMap<>();

        Charges(MemoryBytes total) {
            this.total = total;
        }
    }

    private SimulatedProbe(List<DeviceInfo> devices, Map<DeviceId, Charges> chargesByDevice) {
        this.devices = List.copyOf(devices);
        this.chargesByDevice = chargesByDevice;
    }

    public static SimulatedProbe create(NodeId node, SimulatedSpec spec) {
        List<DeviceInfo> devices = new ArrayList<>();
        Map<DeviceId, Charges> charges = new LinkedHashMap<>();
        for (SimulatedSpec.Device device : spec.devices()) {
            int index = devices.size();
            DeviceId id = id(node, index);
            devices.add(new DeviceInfo(id, index, device.name(), DeviceKind.SIMULATED, Optional.empty()));
            charges.put(id, new Charges(device.total()));
        }
        return new SimulatedProbe(devices, charges);
    }

    private static DeviceId id(NodeId node, int index) {
        byte[] name = ("ullage-sim/" + node + "/" + index).getBytes(StandardCharsets.UTF_8);
        return new DeviceId("GPU-" + UUID.nameUUIDFromBytes(name));
    }

    @Override
    public String description() {
        return "simulated, " + Counts.of(devices.size(), "device")
                + Counts.word(devices.size(), " that does not exist", " that do not exist");
    }

    @Override
    public List<DeviceInfo> devices() {
        return devices;
    }

    @Override
    public List<DeviceProblem> problems() {
        return List.of();
    }

    /** From now on the process holds {@code used} on the device, whatever it held there before. */
    public synchronized void charge(DeviceId device, long pid, MemoryBytes used) {
        if (pid < 1) {
            throw new IllegalArgumentException("a process id is 1 or more: " + pid);
        }
        charges(device).byPid.put(pid, used);
    }

    /** The process is gone: it holds nothing on any device. */
    public synchronized void discharge(long pid) {
        chargesByDevice.values().forEach(charges -> charges.byPid.remove(pid));
    }

    /**
     * A process that is no rank holds {@code used} on the device; with nothing, it is gone from it. For tests and
     * demos.
     */
    public synchronized void setForeign(DeviceId device, long pid, MemoryBytes used) {
        if (used.isZero()) {
            charges(device).byPid.remove(pid);
        } else {
            charge(device, pid, used);
        }
    }

    private Charges charges(DeviceId device) {
        Charges charges = chargesByDevice.get(device);
        if (charges == null) {
            throw new IllegalArgumentException("device " + device + " is not simulated here");
        }
        return charges;
    }

    @Override
    public synchronized DeviceReading read(DeviceId id) {
        Charges charges = chargesByDevice.get(id);
        if (charges == null) {
            return new DeviceReading(
                    Optional.empty(),
                    Optional.empty(),
                    List.of("device " + id + " is not one of this probe's devices"));
        }
        List<ProcessUse> processes = new ArrayList<>();
        charges.byPid.forEach((pid, used) -> processes.add(new ProcessUse(pid, Optional.of(used))));
        MemoryBytes free = charges.total;
        boolean isTooMuch = false;
        for (MemoryBytes used : charges.byPid.values()) {
            isTooMuch |= used.isMoreThan(free);
            free = free.minusOrZero(used);
        }
        MemoryUse memory = new MemoryUse(charges.total, Optional.of(MemoryBytes.ZERO), charges.total.minus(free), free);
        List<String> problems = isTooMuch
                ? List.of(
                        "the %d simulated processes say they hold more than the device's %s; a real one would be out of memory"
                                .formatted(processes.size(), charges.total))
                : List.of();
        return new DeviceReading(Optional.of(memory), Optional.of(processes), problems);
    }

    /** Simulated devices hold on to nothing: readings go on as before. */
    @Override
    public void close() {
        // Nothing to let go of.
    }
}
