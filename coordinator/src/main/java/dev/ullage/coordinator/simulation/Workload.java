package dev.ullage.coordinator.simulation;

import dev.ullage.coordinator.planning.balance.NodeRoom;
import dev.ullage.coordinator.planning.balance.RequestMix;
import java.util.List;

/**
 * Nodes, and the jobs that come to them.
 *
 * @param name of the file the jobs came from, without its ending
 */
public record Workload(String name, List<NodeRoom> nodes, List<TraceJob> jobs) {
    public Workload {
        nodes = List.copyOf(nodes);
        jobs = List.copyOf(jobs);
    }

    /** Of all its jobs. */
    public RequestMix mix() {
        return RequestMix.of(jobs.stream().map(TraceJob::request).toList());
    }

    /** Of all devices, in thousandths of a device. */
    public long capacityMilli() {
        return nodes.stream()
                .flatMap(node -> node.devices().stream())
                .mapToLong(device -> device.capacity())
                .sum();
    }
}
