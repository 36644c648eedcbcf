package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.NvmlCalls.RawProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Makes one list of processes out of NVML's several, or none if it cannot be trusted. Pure. */
final class NvmlProcesses {
    /** {@code PID_MAX_LIMIT} of the Linux kernel on 64 bits: no process has a higher number. */
    private static final long MAX_PID = 1L << 22;

    private NvmlProcesses() {}

    /**
     * One entry for each process, by pid: a process that computes and draws is in both lists, with the same memory.
     *
     * <p>A driver whose structure has another size than the caller thinks answers with pids 0 and 4294967295 between
     * the true ones and with memory and pid mixed up. So one such entry makes the whole list worthless, not just
     * itself.
     *
     * @param problems one sentence is added if the list is not trusted, and one if an amount in it is not known
     */
    static Optional<List<ProcessUse>> merge(
            List<RawProcess> compute, List<RawProcess> graphics, List<String> problems) {
        Map<Long, Optional<MemoryBytes>> byPid = new TreeMap<>();
        for (RawProcess process :
                Stream.concat(compute.stream(), graphics.stream()).toList()) {
            if (process.pid() < 1 || process.pid() > MAX_PID) {
                problems.add("the driver's process list has the pid %d, so it is not trusted; processes are unknown"
                        .formatted(process.pid()));
                return Optional.empty();
            }
            byPid.merge(process.pid(), memory(process), NvmlProcesses::larger);
        }
        long untold = byPid.values().stream().filter(Optional::isEmpty).count();
        if (untold > 0) {
            problems.add(("the driver does not tell the memory of %d of %d processes, as under WDDM and WSL; it is"
                            + " unknown")
                    .formatted(untold, byPid.size()));
        }
        List<ProcessUse> processes = new ArrayList<>(byPid.size());
        byPid.forEach((pid, used) -> processes.add(new ProcessUse(pid, used)));
        return Optional.of(processes);
    }

    /** Negative here is 2^63 or more there: {@code NVML_VALUE_NOT_AVAILABLE}, as under WDDM and WSL. */
    private static Optional<MemoryBytes> memory(RawProcess process) {
        return process.used() < 0 || process.used() > NvmlMemory.MOST_BYTES
                ? Optional.empty()
                : Optional.of(MemoryBytes.of(process.used()));
    }

    private static Optional<MemoryBytes> larger(Optional<MemoryBytes> one, Optional<MemoryBytes> other) {
        if (one.isEmpty() || other.isEmpty()) {
            return one.or(() -> other);
        }
        return Optional.of(one.get().max(other.get()));
    }
}
