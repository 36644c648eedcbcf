package dev.ullage.coordinator.planning.balance;

import dev.ullage.common.model.MemoryBytes;
import java.util.List;

/**
 * What may still be placed on one node.
 *
 * @param node its name
 * @param model product name of its devices, all of one kind; empty when it has none
 * @param cpuMilli free processor time in thousandths of a core
 * @param hostMemory free memory of the host
 * @param devices in the order of their index
 */
public record NodeRoom(String node, String model, int cpuMilli, MemoryBytes hostMemory, List<DeviceRoom> devices) {
    public NodeRoom {
        devices = List.copyOf(devices);
        if (cpuMilli < 0) {
            throw new IllegalArgumentException("node %s: cpu must not be negative: %d".formatted(node, cpuMilli));
        }
    }
}
