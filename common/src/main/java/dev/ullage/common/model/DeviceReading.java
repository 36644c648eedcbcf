package dev.ullage.common.model;

import java.util.List;
import java.util.Optional;

/**
 * One reading of a device's memory. Each part may be unknown by itself, and then a problem says why.
 *
 * @param memory totals of the device
 * @param processes what holds memory on it; an empty list means "nobody", an empty optional "not known"
 * @param problems one sentence for each part that could not be read: call, outcome, consequence
 */
public record DeviceReading(Optional<MemoryUse> memory, Optional<List<ProcessUse>> processes, List<String> problems) {

    public DeviceReading {
        processes = processes.map(List::copyOf);
        problems = List.copyOf(problems);
    }

    /**
     * Device totals in the sense of NVML memory info version 2: {@code used + free + reserved = total}.
     *
     * @param total all memory of the device
     * @param reserved what the driver keeps for itself; unknown where only version 1 of the call exists (there it is
     *     part of {@code used})
     * @param used allocated by processes
     * @param free not allocated
     */
    public record MemoryUse(MemoryBytes total, Optional<MemoryBytes> reserved, MemoryBytes used, MemoryBytes free) {

        /** {@code total - reserved}: all that processes can ever be given. */
        public MemoryBytes allocatable() {
            return total.minusOrZero(reserved.orElse(MemoryBytes.ZERO));
        }
    }

    /**
     * @param pid process id as the host sees it
     * @param used memory of this process on this device; unknown under WDDM, WSL and some containers
     */
    public record ProcessUse(long pid, Optional<MemoryBytes> used) {}
}
