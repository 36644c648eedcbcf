package dev.ullage.common.model;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a host has for jobs beside its devices, as far as its worker can tell: what is not known is empty.
 *
 * @param cpuMilli processor time in thousandths of a core, more than 0
 * @param memory of the host, more than nothing
 * @param available how much of {@code memory} can be had now without swapping; empty while {@code memory} is
 */
public record HostCapacity(OptionalInt cpuMilli, Optional<MemoryBytes> memory, Optional<MemoryBytes> available) {
    public static final HostCapacity UNKNOWN =
            new HostCapacity(OptionalInt.empty(), Optional.empty(), Optional.empty());

    public HostCapacity {
        if (cpuMilli.orElse(1) < 1 || memory.map(MemoryBytes::isZero).orElse(false)) {
            throw new IllegalArgumentException(
                    "a host has some processor time and memory, or it is not known: %s thousandths of a core, %s"
                            .formatted(cpuMilli, memory));
        }
        Optional<MemoryBytes> all = memory;
        available = available.flatMap(amount -> all.map(amount::min));
    }
}
