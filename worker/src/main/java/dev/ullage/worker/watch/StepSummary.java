package dev.ullage.worker.watch;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankWatch.Batch;
import dev.ullage.common.model.RankWatch.PhasePeak;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a rank says of its allocator at the end of a step.
 *
 * @param step steps done, 0 or more
 * @param steps how many of them the peaks are of, 0 or more
 * @param peaks of the phases since the summary before
 * @param batch how the batch was cut in these steps, of a rank that takes batch shares
 */
public record StepSummary(
        long step,
        long steps,
        OptionalLong epoch,
        List<PhasePeak> peaks,
        Amounts amounts,
        Counts counts,
        Optional<Batch> batch) {

    /** Of a rank that takes no batch shares. */
    public StepSummary(
            long step, long steps, OptionalLong epoch, List<PhasePeak> peaks, Amounts amounts, Counts counts) {
        this(step, steps, epoch, peaks, amounts, counts, Optional.empty());
    }

    /** Whether both are of steps with as many samples. */
    boolean isCutAs(StepSummary other) {
        return batch.map(Batch::samples).equals(other.batch.map(Batch::samples))
                && batch.map(Batch::microBatch).equals(other.batch.map(Batch::microBatch));
    }

    public StepSummary {
        peaks = List.copyOf(peaks);
    }

    /**
     * At the end of the step.
     *
     * @param requested what was asked for, before sizes were rounded up
     * @param inactiveSplit in unused pieces of split blocks
     */
    public record Amounts(
            Optional<MemoryBytes> allocated,
            Optional<MemoryBytes> reserved,
            Optional<MemoryBytes> requested,
            Optional<MemoryBytes> inactiveSplit) {}

    /** Since the process started. */
    public record Counts(OptionalLong allocations, OptionalLong retries, OptionalLong refusals) {
        static final Counts ZERO = new Counts(OptionalLong.of(0), OptionalLong.of(0), OptionalLong.of(0));
    }
}
