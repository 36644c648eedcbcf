package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.NvmlCalls.RawMemory;
import java.util.List;
import java.util.Optional;

/** Checks what a driver says about memory before anybody plans with it. Pure. */
final class NvmlMemory {
    /** 256 TiB, which no device has: a figure above is none, and sums of figures below do not overflow. */
    static final long MOST_BYTES = 1L << 48;

    private NvmlMemory() {}

    /**
     * Version 2, where used + free + reserved = total. The header of CUDA 12 says that used includes reserved, drivers
     * seen so far do not do so; one that does is told by used + free = total, and the reserve is taken out of used.
     *
     * @param problems one sentence is added for all that is wrong
     */
    static Optional<MemoryUse> fromVersion2(RawMemory raw, List<String> problems) {
        if (isImplausible(raw, problems)) {
            return Optional.empty();
        }
        boolean includesReserved =
                raw.reserved() > 0 && raw.used() >= raw.reserved() && raw.used() == raw.total() - raw.free();
        long used = includesReserved ? raw.used() - raw.reserved() : raw.used();
        // Each part is at most total, so that the difference cannot overflow where a sum could.
        if (raw.total() - used - raw.free() != raw.reserved()) {
            problems.add(
                    "nvmlDeviceGetMemoryInfo_v2: used %d + free %d + reserved %d is not total %d bytes; figures are as the driver gave them"
                            .formatted(used, raw.free(), raw.reserved(), raw.total()));
        }
        return Optional.of(new MemoryUse(
                MemoryBytes.of(raw.total()),
                Optional.of(MemoryBytes.of(raw.reserved())),
                MemoryBytes.of(used),
                MemoryBytes.of(raw.free())));
    }

    /** Version 1, where used + free = total and used includes a reserve of unknown size. */
    static Optional<MemoryUse> fromVersion1(RawMemory raw, List<String> problems) {
        if (isImplausible(raw, problems)) {
            return Optional.empty();
        }
        if (raw.total() - raw.used() != raw.free()) {
            problems.add(
                    "nvmlDeviceGetMemoryInfo: used %d + free %d is not total %d bytes; figures are as the driver gave them"
                            .formatted(raw.used(), raw.free(), raw.total()));
        }
        return Optional.of(new MemoryUse(
                MemoryBytes.of(raw.total()), Optional.empty(), MemoryBytes.of(raw.used()), MemoryBytes.of(raw.free())));
    }

    private static boolean isImplausible(RawMemory raw, List<String> problems) {
        boolean implausible = raw.total() <= 0
                || raw.total() > MOST_BYTES
                || isMoreThanTotal(raw.used(), raw)
                || isMoreThanTotal(raw.free(), raw)
                || isMoreThanTotal(raw.reserved(), raw);
        if (implausible) {
            problems.add(
                    "the driver says total %s, used %s, free %s, reserved %s bytes, which cannot be; memory is unknown"
                            .formatted(
                                    Long.toUnsignedString(raw.total()),
                                    Long.toUnsignedString(raw.used()),
                                    Long.toUnsignedString(raw.free()),
                                    Long.toUnsignedString(raw.reserved())));
        }
        return implausible;
    }

    /** Negative here is 2^63 or more there: a "not available" marker. */
    private static boolean isMoreThanTotal(long part, RawMemory raw) {
        return part < 0 || part > raw.total();
    }
}
