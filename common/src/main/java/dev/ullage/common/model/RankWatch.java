package dev.ullage.common.model;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What watching a rank's allocator has come to. Soft: lost with the worker, found out again within some steps. Each
 * part may be unknown by itself.
 *
 * @param phases what each phase held at most, in the order of {@link Phase}; only those that were seen
 * @param snapshots the newest few, oldest first
 * @param release what its newest release of the cache gained
 * @param lingering the most it held, its cache given back, when it could not end a turn for that; absent when that did
 *     not happen in the last steps, and from an older worker or client
 */
public record RankWatch(
        Progress progress,
        List<PhasePeak> phases,
        Allocator allocator,
        Leak leak,
        List<Snapshot> snapshots,
        Optional<CacheRelease> release,
        Optional<MemoryBytes> lingering) {

    /** Of a rank that could end its turns, or takes none. */
    public RankWatch(
            Progress progress,
            List<PhasePeak> phases,
            Allocator allocator,
            Leak leak,
            List<Snapshot> snapshots,
            Optional<CacheRelease> release) {
        this(progress, phases, allocator, leak, snapshots, release, Optional.empty());
    }

    public RankWatch {
        phases = List.copyOf(phases);
        snapshots = List.copyOf(snapshots);
    }

    /**
     * @param step the newest that was watched
     * @param epoch unknown when the rank does not say
     * @param steps how many steps the peaks and the counts are of; a phase that is rarer than that has its last peak
     */
    public record Progress(OptionalLong step, OptionalLong epoch, long steps) {}

    /**
     * The most of any watched step.
     *
     * @param reserved taken from the device: what counts against a limit
     * @param allocated in tensors; unknown more often, because torch keeps one peak for all phases
     */
    public record PhasePeak(Phase phase, Optional<MemoryBytes> reserved, Optional<MemoryBytes> allocated) {

        /** What counts against a limit, as far as the allocator tells them apart. */
        public Optional<MemoryBytes> held() {
            return reserved.or(() -> allocated);
        }
    }

    /**
     * @param allocations requests served since the process started
     * @param allocationsPerStep over the watched steps
     * @param fragmentation memory in unused pieces of split blocks, by what is reserved, at the end of a step
     * @param roundingWaste what rounding sizes up adds, by what is allocated
     * @param retries requests in the watched steps that were served only after the cache was given back
     * @param refusals requests in the watched steps that were turned away
     */
    public record Allocator(
            OptionalLong allocations,
            OptionalLong allocationsPerStep,
            Optional<Share> fragmentation,
            Optional<Share> roundingWaste,
            OptionalLong retries,
            OptionalLong refusals) {}

    /** Whether what is allocated at the same point of each step grows without end. */
    public enum LeakState {
        /** Too few steps were watched. */
        UNKNOWN,
        NONE,
        SUSPECTED
    }

    /**
     * @param bytesPerStep how fast, when it is suspected
     * @param confidence that there is a trend at all, when it is suspected
     * @param points how many steps were compared
     */
    public record Leak(LeakState state, OptionalLong bytesPerStep, Optional<Share> confidence, int points) {
        public static final Leak UNKNOWN = new Leak(LeakState.UNKNOWN, OptionalLong.empty(), Optional.empty(), 0);
    }

    /**
     * How an allocator's memory lay on the device at the end of a step, as totals.
     *
     * @param inactiveSplit in unused pieces of split blocks
     * @param largestFree the largest unused piece
     * @param segments taken from the device
     */
    public record Snapshot(
            long step,
            Optional<MemoryBytes> allocated,
            Optional<MemoryBytes> reserved,
            Optional<MemoryBytes> inactiveSplit,
            Optional<MemoryBytes> largestFree,
            OptionalLong segments) {}

    /** A release of the cache that the worker asked for; before and after are what the allocator held. */
    public record CacheRelease(long step, MemoryBytes before, MemoryBytes after) {

        /** What the device has back; zero when the allocator took more meanwhile. */
        public MemoryBytes gain() {
            return before.minus(before.min(after));
        }
    }
}
