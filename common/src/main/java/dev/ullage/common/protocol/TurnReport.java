package dev.ullage.common.protocol;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import java.util.List;
import java.util.Optional;

/**
 * Who takes turns on a device, at one moment. Soft: after a restart of the worker the ranks say it again.
 *
 * @param plan the newest; empty when none takes turns, or no coordinator has said so since the worker's start
 * @param out what bursts on the device may come to now
 * @param holding jobs that have a turn
 * @param waiting ranks that wait for one, first come first
 */
public record TurnReport(
        Optional<TurnPlan> plan, MemoryBytes out, List<Holder> holding, List<Waiter> waiting, Counts counts) {
    public static final TurnReport NONE =
            new TurnReport(Optional.empty(), MemoryBytes.ZERO, List.of(), List.of(), Counts.NONE);

    public TurnReport {
        holding = List.copyOf(holding);
        waiting = List.copyOf(waiting);
    }

    public record Holder(JobId job, long heldMillis) {}

    public record Waiter(RankInstance instance, long waitedMillis) {}

    /**
     * Counted by rank, since the worker's start.
     *
     * @param given turns that a rank of this device was given
     * @param waits those of them, and those in vain, that it had to wait for
     * @param waitedMillis how long all of these took together
     * @param missed waits that ended at the deadline, without a turn
     */
    public record Counts(long given, long waits, long waitedMillis, long missed) {
        public static final Counts NONE = new Counts(0, 0, 0, 0);
    }
}
