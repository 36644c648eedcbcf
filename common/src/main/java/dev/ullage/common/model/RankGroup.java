package dev.ullage.common.model;

import java.util.Optional;

/**
 * Ranks of a job that need as much as each other: an amount, a share of a device, or when neither is there a whole one.
 *
 * @param ranks how many, 1 or more
 * @param memory device memory of each, in whole MiB and more than nothing
 * @param share of what the rank's device can promise to all ranks together, its memory less the reserve; not with
 *     {@code memory}
 */
public record RankGroup(int ranks, Optional<MemoryBytes> memory, Optional<Share> share) {
    private static final MemoryBytes GRANULE = MemoryBytes.ofMebibytes(1);

    public RankGroup {
        memory = memory.map(bytes -> bytes.roundedUpTo(GRANULE));
        share = share.filter(part -> !part.equals(Share.ALL));
        if (ranks < 1 || (memory.isPresent() && share.isPresent())) {
            throw new IllegalArgumentException("a group has 1 rank or more, and not both memory and a share: " + ranks
                    + " ranks, memory " + memory + ", share " + share);
        }
        if (memory.map(MemoryBytes::isZero).orElse(false)
                || share.map(Share.NONE::equals).orElse(false)) {
            throw new IllegalArgumentException("a rank that needs no device memory needs no device");
        }
    }

    public static RankGroup ofMemory(int ranks, MemoryBytes each) {
        return new RankGroup(ranks, Optional.of(each), Optional.empty());
    }

    public static RankGroup ofShare(int ranks, Share each) {
        return new RankGroup(ranks, Optional.empty(), Optional.of(each));
    }

    /** What one rank is promised on a device that can promise {@code most}: whole MiB, so that halves add up. */
    public MemoryBytes eachOf(MemoryBytes most) {
        return memory.orElseGet(() -> {
            long bytes = most.times(part()).value();
            return MemoryBytes.of(bytes - bytes % GRANULE.value());
        });
    }

    /** What part of a device it asks for, where it asks for no amount. */
    public Share part() {
        return share.orElse(Share.ALL);
    }

    /** What one rank asks for, in words. */
    public String each() {
        return memory.map(MemoryBytes::toString)
                .orElseGet(() -> share.map(part -> part + " of a device").orElse("a whole device"));
    }
}
