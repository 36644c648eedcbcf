package dev.ullage.worker.probe;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.NvmlCalls.RawProcess;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Makes one list of processes out of NVML's several, or none if it cannot be trusted. Pure. */
final class NvmlProcesses {
    /** {@code PID_MAX_LIMIT} of the Linux kernel on 64 bits: no process has a higher number. */
    private static final long MAX_PID = 1L << 22;

    private static final Comparator<RawProcess> BY_PID = Comparator.comparingLong(RawProcess::pid);

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
        List<RawProcess> both = new ArrayList<>(compute.size() + graphics.size());
        both.addAll(compute);
        both.addAll(graphics);
        for (RawProcess process : both) {
            if (process.pid() < 1 || process.pid() > MAX_PID) {
                problems.add("the driver's process list has the pid %d, so it is not trusted; processes are unknown"
                        .formatted(process.pid()));
                return Optional.empty();
            }
        }
        both.sort(BY_PID);
        List<ProcessUse> processes = new ArrayList<>(both.size());
        for (RawProcess process : both) {
            int last = processes.size() - 1;
            if (last >= 0 && processes.get(last).pid() == process.pid()) {
                Optional<MemoryBytes> used = larger(processes.get(last).used(), memory(process));
                processes.set(last, new ProcessUse(process.pid(), used));
            } else {
                processes.add(new ProcessUse(process.pid(), memory(process)));
            }
        }
        long untold =
                processes.stream().filter(process -> process.used().isEmpty()).count();
        if (untold > 0) {
            problems.add(("the driver does not tell the memory of %d of %s, as under WDDM and WSL; it is" + " unknown")
                    .formatted(untold, Counts.of(processes.size(), "process")));
        }
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
