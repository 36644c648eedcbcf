package dev.ullage.worker.watch;

import dev.ullage.common.model.RankAccount.Latency;
import dev.ullage.common.model.RankAccount.PhaseTime;
import dev.ullage.common.model.RankAccount.Waits;
import java.util.List;
import java.util.OptionalLong;

/**
 * What a client has counted since it began, but for the loss.
 *
 * @param step that its training is in
 */
public record TrainingReport(
        long step, long elapsedMillis, Counts counts, List<PhaseTime> phases, Waits waits, Latency latency, Loss loss) {
    public TrainingReport {
        phases = List.copyOf(phases);
    }

    /**
     * @param samples that it went through, where the script says so
     * @param megaflopsPerStep operations of a step, in millions, where the script says so
     */
    public record Counts(long steps, OptionalLong samples, OptionalLong megaflopsPerStep) {}

    /**
     * @param billionths mean of the losses since the report before; empty: none was said
     * @param leftOut losses that were no number or out of range, since the client began
     */
    public record Loss(OptionalLong billionths, long leftOut) {}
}
