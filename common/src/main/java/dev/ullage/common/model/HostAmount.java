package dev.ullage.common.model;

import dev.ullage.common.model.JobRequest.HostNeed;

/**
 * What ranks ask of a host together. A sum that no number holds stays the largest one: no host has it.
 *
 * @param cpuMilli processor time in thousandths of a core, 0 or more
 */
public record HostAmount(long cpuMilli, MemoryBytes memory) {
    public static final HostAmount NONE = new HostAmount(0, MemoryBytes.ZERO);

    public HostAmount {
        if (cpuMilli < 0) {
            throw new IllegalArgumentException("processor time must not be negative: " + cpuMilli);
        }
    }

    /** Of so many ranks; what is not named is not asked for. */
    public static HostAmount of(HostNeed each, int ranks) {
        long bytes = each.memory().map(MemoryBytes::value).orElse(0L);
        return new HostAmount(
                (long) each.cpuMilli().orElse(0) * ranks,
                MemoryBytes.of(bytes > Long.MAX_VALUE / Math.max(1, ranks) ? Long.MAX_VALUE : bytes * ranks));
    }

    public HostAmount plus(HostAmount other) {
        return new HostAmount(
                cpuMilli > Long.MAX_VALUE - other.cpuMilli ? Long.MAX_VALUE : cpuMilli + other.cpuMilli,
                memory.value() > Long.MAX_VALUE - other.memory.value()
                        ? MemoryBytes.of(Long.MAX_VALUE)
                        : memory.plus(other.memory));
    }

    public boolean isNone() {
        return equals(NONE);
    }
}
