package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.NvmlCalls.RawMemory;
import java.util.List;
import java.util.Optional;

/**
 * GPUs that use the host's memory (GB10, Jetson): how they are told, and what their memory is. Pure.
 *
 * <p>They are told by what the driver answers and by whether that is plausible, never by name: drivers for the same
 * part differ. What the rest of the host uses is not the GPU's use, so use is the sum over the GPU's processes.
 */
public final class UnifiedMemory {
    private UnifiedMemory() {}

    /**
     * Whether the driver's answers about memory would be those of a device without any: no such memory to either
     * version, a total of 0, or exactly the host's total.
     */
    static boolean isSuspected(
            NvmlAnswer<RawMemory> version2, NvmlAnswer<RawMemory> version1, Optional<HostMemory> host) {
        Optional<RawMemory> said = version2.value().or(version1::value);
        if (said.isEmpty()) {
            return version1.outcome() == NvmlReturn.NOT_SUPPORTED
                    && (version2.outcome() == NvmlReturn.NOT_SUPPORTED
                            || version2.outcome() == NvmlReturn.FUNCTION_NOT_FOUND
                            || version2.outcome() == NvmlReturn.ARGUMENT_VERSION_MISMATCH);
        }
        long total = said.get().total();
        return total == 0
                || host.map(memory -> Math.abs(memory.total().value() - total) < MemoryBytes.MEBIBYTE)
                        .orElse(false);
    }

    /**
     * Whether a suspected device does share the host's memory. CUDA's word decides; without it the process list must
     * work and fit into the host, because a driver that answers nothing at all is broken rather than unified.
     */
    static boolean isConfirmed(
            Optional<Boolean> integrated, Optional<List<ProcessUse>> processes, Optional<HostMemory> host) {
        return host.isPresent()
                && integrated.orElseGet(() -> processes
                        .flatMap(UnifiedMemory::sum)
                        .map(used -> !used.isMoreThan(host.get().total()))
                        .orElse(false));
    }

    /**
     * Totals in the sense of {@link MemoryUse}: all of the host's memory, of which the GPU's processes use their sum,
     * and what is neither theirs nor available is reserved: the rest of the host needs it.
     *
     * <p>What the kernel calls available mostly leaves out what the GPU's processes hold. Where it plainly does not,
     * because less than that is missing from the total, no more than the available can be promised.
     */
    public static Optional<MemoryUse> use(
            Optional<HostMemory> host, Optional<List<ProcessUse>> processes, List<String> problems) {
        Optional<MemoryBytes> sum = processes.flatMap(UnifiedMemory::sum);
        if (host.isEmpty() || sum.isEmpty()) {
            problems.add("memory is shared with the host and "
                    + (host.isEmpty() ? "the host's is not known" : "what the GPU's processes use is not known")
                    + "; memory is unknown");
            return Optional.empty();
        }
        MemoryBytes total = host.get().total();
        MemoryBytes used = sum.get();
        if (used.isMoreThan(total)) {
            problems.add("the GPU's processes use %s, which is more than the host has (%s); memory is unknown"
                    .formatted(used, total));
            return Optional.empty();
        }
        MemoryBytes available = host.get().available();
        boolean isCounted = !used.isMoreThan(total.minus(available));
        MemoryBytes free = isCounted ? available : available.minusOrZero(used);
        MemoryBytes reserved = total.minus(used).minus(free);
        return Optional.of(new MemoryUse(total, Optional.of(reserved), used, free));
    }

    /** What they use together; empty as soon as one of them is not known. */
    static Optional<MemoryBytes> sum(List<ProcessUse> processes) {
        MemoryBytes sum = MemoryBytes.ZERO;
        for (ProcessUse process : processes) {
            if (process.used().isEmpty()) {
                return Optional.empty();
            }
            sum = sum.plus(process.used().get());
        }
        return Optional.of(sum);
    }
}
