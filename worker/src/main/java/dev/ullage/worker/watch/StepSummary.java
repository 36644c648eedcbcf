package dev.ullage.worker.watch;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankWatch.MicroBatches;
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
 * @param microBatches peaks by the size of the micro-batch, since the training began
 */
public record StepSummary(
        long step,
        long steps,
        OptionalLong epoch,
        List<PhasePeak> peaks,
        Amounts amounts,
        Counts counts,
        Optional<MicroBatches> microBatches) {
    public StepSummary {
        peaks = List.copyOf(peaks);
    }

    /** Of a training that does not say the size of its micro-batches. */
    public StepSummary(
            long step, long steps, OptionalLong epoch, List<PhasePeak> peaks, Amounts amounts, Counts counts) {
        this(step, steps, epoch, peaks, amounts, counts, Optional.empty());
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
