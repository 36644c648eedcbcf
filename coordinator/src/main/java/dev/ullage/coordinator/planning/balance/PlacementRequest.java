package dev.ullage.coordinator.planning.balance;

import dev.ullage.common.model.MemoryBytes;
import java.util.Collections;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * What one job asks for: {@code devices} different devices of one node with {@code share} free on each.
 *
 * @param devices how many; 0 for a job without devices
 * @param share on each, in the board's unit; 0 exactly when {@code devices} is
 * @param cpuMilli processor time on the node in thousandths of a core
 * @param hostMemory memory of the host
 * @param models product names that will do; empty when any does
 */
public record PlacementRequest(
        int devices, long share, int cpuMilli, MemoryBytes hostMemory, NavigableSet<String> models) {
    public PlacementRequest {
        models = Collections.unmodifiableNavigableSet(new TreeSet<>(models));
        if (devices < 0 || share < 0 || cpuMilli < 0 || (devices == 0) != (share == 0)) {
            throw new IllegalArgumentException(
                    "a request has devices with a share each or neither, and nothing negative: " + devices
                            + " devices, share " + share + ", cpu " + cpuMilli);
        }
    }

    /** Devices that will do on any model. */
    public static PlacementRequest ofDevices(int devices, long share) {
        return new PlacementRequest(devices, share, 0, MemoryBytes.ZERO, Collections.emptyNavigableSet());
    }

    public PlacementRequest onModels(String... names) {
        TreeSet<String> named = new TreeSet<>();
        Stream.of(names).forEach(named::add);
        return new PlacementRequest(devices, share, cpuMilli, hostMemory, named);
    }

    /** Over all its devices, in the board's unit. */
    public long total() {
        return Math.multiplyExact(devices, share);
    }
}
