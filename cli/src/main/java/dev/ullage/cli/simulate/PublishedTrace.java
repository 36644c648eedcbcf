package dev.ullage.cli.simulate;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.balance.PlacementRequest;
import dev.ullage.coordinator.simulation.TraceJob;
import dev.ullage.coordinator.simulation.Workload;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * What tells a published trace from another of the same name: how many jobs, and sums over them.
 * {@code published-traces.csv} has them of each trace that was published as a file.
 *
 * @param namedModels how many models its jobs name together
 */
record PublishedTrace(long jobs, long cpuMilli, long memoryMebibytes, long deviceMilli, long namedModels) {
    /** Of {@code openb_node_list_gpu_node.csv}, on which all of them were published. */
    private static final int NODES = 1_213;

    private static final long NODES_CPU_MILLI = 107_018_000;
    private static final long NODES_DEVICE_MILLI = 6_212_000;

    static PublishedTrace of(Map<String, String> row) {
        return new PublishedTrace(
                Long.parseLong(row.get("jobs")),
                Long.parseLong(row.get("cpu_milli")),
                Long.parseLong(row.get("memory_mib")),
                Long.parseLong(row.get("device_milli")),
                Long.parseLong(row.get("named_models")));
    }

    boolean isThatOf(Workload workload) {
        long cpu = workload.nodes().stream().mapToLong(node -> node.cpuMilli()).sum();
        return workload.nodes().size() == NODES
                && cpu == NODES_CPU_MILLI
                && workload.capacityMilli() == NODES_DEVICE_MILLI
                && equals(of(workload.jobs()));
    }

    private static PublishedTrace of(List<TraceJob> jobs) {
        return new PublishedTrace(
                jobs.size(),
                sum(jobs, PlacementRequest::cpuMilli),
                sum(jobs, request -> request.hostMemory().value() / MemoryBytes.MEBIBYTE),
                sum(jobs, request -> request.devices() * request.share()),
                sum(jobs, request -> request.models().size()));
    }

    private static long sum(List<TraceJob> jobs, ToLongFunction<PlacementRequest> figure) {
        return jobs.stream().map(TraceJob::request).mapToLong(figure).sum();
    }
}
