package dev.ullage.common.model;

import java.util.Optional;

/**
 * What a rank's allocator last said; each part may be unknown by itself.
 *
 * @param allocated in tensors now
 * @param reserved taken from the device now: allocated, cached and fragmented
 * @param peakAllocated highest {@code allocated} since the process started
 * @param peakReserved highest {@code reserved} since the process started
 * @param refusals requests the rank's own allocator turned away because of the limit
 */
public record RankUse(
        Optional<MemoryBytes> allocated,
        Optional<MemoryBytes> reserved,
        Optional<MemoryBytes> peakAllocated,
        Optional<MemoryBytes> peakReserved,
        long refusals) {
    public static final RankUse UNKNOWN =
            new RankUse(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), 0);

    /** What counts against a limit: reserved memory, or allocated where the framework knows no more. */
    public Optional<MemoryBytes> held() {
        return reserved.or(() -> allocated);
    }
}
