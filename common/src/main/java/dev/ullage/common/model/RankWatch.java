package dev.ullage.common.model;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What watching a rank's allocator has come to. Soft: lost with the worker, found out again within some steps. Each
 * part may be unknown by itself.
 *
 * @param phases what each phase held at most, in the order of {@link Phase}; only those that were seen
 * @param snapshots the newest few, oldest first
 * @param release what its newest release of the cache gained
 * @param work what is known of its batches and turns; empty: nothing
 */
public record RankWatch(
        Progress progress,
        List<PhasePeak> phases,
        Allocator allocator,
        Leak leak,
        List<Snapshot> snapshots,
        Optional<CacheRelease> release,
        Optional<Work> work) {

    public RankWatch {
        phases = List.copyOf(phases);
        snapshots = List.copyOf(snapshots);
    }

    /** Of a training that says nothing of its batches, and ends its turns or takes none. */
    public RankWatch(
            Progress progress,
            List<PhasePeak> phases,
            Allocator allocator,
            Leak leak,
            List<Snapshot> snapshots,
            Optional<CacheRelease> release) {
        this(progress, phases, allocator, leak, snapshots, release, Optional.empty());
    }

    /** How it cut its batch while {@link #phases} were measured; only a rank that takes batch shares says so. */
    public Optional<Batch> batch() {
        return work.flatMap(Work::batches).flatMap(Batches::cut);
    }

    /** Peaks by the size of the micro-batch; empty where the training does not say it. */
    public Optional<MicroBatches> microBatches() {
        return work.flatMap(Work::batches).flatMap(Batches::sizes);
    }

    /** What it held, its cache given back, when it could not end a turn for that; empty when that did not happen. */
    public Optional<MemoryBytes> lingering() {
        return work.flatMap(Work::lingering);
    }

    /**
     * What a rank is known to do beside its phases.
     *
     * @param batches what it says of its batches
     * @param lingering the most it held, its cache given back, when it could not end a turn for that; absent when that
     *     did not happen in the last steps, and from an older worker or client
     */
    public record Work(Optional<Batches> batches, Optional<MemoryBytes> lingering) {
        /** Nothing when neither is known. */
        public static Optional<Work> of(Optional<Batches> batches, Optional<MemoryBytes> lingering) {
            return batches.isPresent() || lingering.isPresent()
                    ? Optional.of(new Work(batches, lingering))
                    : Optional.empty();
        }
    }

    /**
     * What a rank says of its batches.
     *
     * @param cut how it cuts them by the newest batch shares
     * @param sizes peaks by the size of the micro-batch
     */
    public record Batches(Optional<Batch> cut, Optional<MicroBatches> sizes) {
        /** Nothing when neither is known. */
        public static Optional<Batches> of(Optional<Batch> cut, Optional<MicroBatches> sizes) {
            return cut.isPresent() || sizes.isPresent() ? Optional.of(new Batches(cut, sizes)) : Optional.empty();
        }
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
     * @param now samples of a micro-batch, by what the training last said
     * @param sizes ascending; the first step is not in them, because it lacks the optimizer's state
     */
    public record MicroBatches(int now, List<MicroBatchPeaks> sizes) {
        public MicroBatches {
            sizes = List.copyOf(sizes);
        }
    }

    /**
     * The most that each phase held with micro-batches of one size.
     *
     * @param samples 1 or more
     */
    public record MicroBatchPeaks(int samples, List<PhasePeak> phases) {
        public MicroBatchPeaks {
            phases = List.copyOf(phases);
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

    /**
     * How a rank cuts its batch.
     *
     * @param sequence the newest directive of its job that it followed, 0 when none
     * @param job samples of the whole job in one step, 1 or more
     * @param samples of this rank in one step, 1 or more
     * @param microBatch samples at once, 1 or more
     * @param most the most at once that its user, or a directive after an out-of-memory error, allows
     * @param base what its allocator had handed out as the step began, and the gradients: what no smaller batch makes
     *     smaller
     */
    public record Batch(
            long sequence, int job, int samples, int microBatch, OptionalInt most, Optional<MemoryBytes> base) {
        public Batch {
            if (sequence < 0 || job < 1 || samples < 1 || microBatch < 1 || most.orElse(1) < 1) {
                throw new IllegalArgumentException(
                        "a batch has 1 sample or more everywhere and no negative sequence: job %d, rank %d, at once %d, at most %s, sequence %d"
                                .formatted(job, samples, microBatch, most, sequence));
            }
        }
    }

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
