package dev.ullage.worker.watch;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankWatch.Batch;
import dev.ullage.common.model.RankWatch.Batches;
import dev.ullage.common.model.RankWatch.PhasePeak;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * What a rank says of its allocator at the end of a step.
 *
 * @param step steps done, 0 or more
 * @param steps how many of them the peaks are of, 0 or more
 * @param peaks of the phases since the summary before
 * @param batches what it says of its batches: how they were cut in these steps, and peaks by the size of the
 *     micro-batch
 */
public record StepSummary(
        long step,
        long steps,
        OptionalLong epoch,
        List<PhasePeak> peaks,
        Amounts amounts,
        Counts counts,
        Optional<Batches> batches) {

    /** Whether both are of steps with as many samples. */
    boolean isCutAs(StepSummary other) {
        return cut(Batch::samples).equals(other.cut(Batch::samples))
                && cut(Batch::microBatch).equals(other.cut(Batch::microBatch));
    }

    private Optional<Integer> cut(Function<Batch, Integer> size) {
        return batches.flatMap(Batches::cut).map(size);
    }

    public StepSummary {
        peaks = List.copyOf(peaks);
    }

    /** Of a training that says nothing of its batches. */
    public StepSummary(
            long step, long steps, OptionalLong epoch, List<PhasePeak> peaks, Amounts amounts, Counts counts) {
        this(step, steps, epoch, peaks, amounts, counts, Optional.empty());
    }

    /**
     * At the end of the step, but for the last.
     *
     * @param requested what was asked for, before sizes were rounded up
     * @param inactiveSplit in unused pieces of split blocks
     * @param lingering the most that was held when a turn could not be ended for it, since the summary before
     */
    public record Amounts(
            Optional<MemoryBytes> allocated,
            Optional<MemoryBytes> reserved,
            Optional<MemoryBytes> requested,
            Optional<MemoryBytes> inactiveSplit,
            Optional<MemoryBytes> lingering) {

        /** Of a rank that could end its turns, or takes none. */
        public Amounts(
                Optional<MemoryBytes> allocated,
                Optional<MemoryBytes> reserved,
                Optional<MemoryBytes> requested,
                Optional<MemoryBytes> inactiveSplit) {
            this(allocated, reserved, requested, inactiveSplit, Optional.empty());
        }
    }

    /** Since the process started. */
    public record Counts(OptionalLong allocations, OptionalLong retries, OptionalLong refusals) {
        static final Counts ZERO = new Counts(OptionalLong.of(0), OptionalLong.of(0), OptionalLong.of(0));
    }
}
