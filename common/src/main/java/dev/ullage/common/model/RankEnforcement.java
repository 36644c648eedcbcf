package dev.ullage.common.model;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What a worker found out about how a rank is held to its limit. Soft; measured, never promised.
 *
 * @param processUsed what the driver says the rank's processes use on the device, in bytes; unknown before the first
 *     reading that lists them, and where the driver does not tell
 * @param overhead what the process uses beside its framework's allocator; empty where nothing is assumed, as on a
 *     simulated device
 * @param inForce the limit that the mechanism itself says is in force, read back from it; empty where it cannot be
 *     asked
 * @param overCeiling whether its processes were measured above its ceiling for some readings in a row
 * @param whyNotHigher each mechanism that would hold the rank better, highest first, and why it does not
 */
public record RankEnforcement(
        Optional<MemoryBytes> processUsed,
        Optional<Overhead> overhead,
        Optional<MemoryBytes> inForce,
        boolean overCeiling,
        List<WhyNot> whyNotHigher) {
    public RankEnforcement {
        Objects.requireNonNull(processUsed);
        Objects.requireNonNull(overhead);
        Objects.requireNonNull(inForce);
        whyNotHigher = List.copyOf(whyNotHigher);
    }

    /**
     * Context, communication buffers, libraries: memory of the process that no limit of its allocator covers.
     *
     * @param provisional not measured yet, but the configured default
     */
    public record Overhead(MemoryBytes bytes, boolean provisional) {

        /** Why a process cannot train within {@code limit}, when what it uses beside its allocator is all of it. */
        public Optional<String> refusal(MemoryBytes limit) {
            return limit.isMoreThan(bytes)
                    ? Optional.empty()
                    : Optional.of("a limit of %s leaves its allocator nothing: beside it the process %s %s (context,"
                                    .formatted(limit, provisional ? "is taken to use" : "uses", bytes)
                            + " communication buffers, libraries); give it a larger share, or the job a larger limit");
        }
    }

    /** @param reason one sentence for people */
    public record WhyNot(EnforcedBy rung, String reason) {}

    /**
     * What the allocator may take so that the whole process stays within {@code limit}; empty where no overhead is
     * assumed, zero where the overhead alone is as much as the limit.
     */
    public Optional<MemoryBytes> allocatorShare(MemoryBytes limit) {
        return overhead.map(beside -> limit.minusOrZero(beside.bytes()));
    }
}
