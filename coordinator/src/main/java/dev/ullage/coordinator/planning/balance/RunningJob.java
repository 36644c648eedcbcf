package dev.ullage.coordinator.planning.balance;

import dev.ullage.coordinator.planning.balance.Placement.Placed;
import java.util.OptionalLong;

/**
 * A job that has its devices.
 *
 * @param startedAt milliseconds on the clock of whoever asks
 * @param endsAt when it will give them back; empty when that is not known
 */
public record RunningJob(WaitingJob job, Placed placed, long startedAt, OptionalLong endsAt) {

    /** Milliseconds from its submission to its start. */
    public long waited() {
        return startedAt - job.submittedAt();
    }

    boolean runsAfter(long time) {
        return endsAt.isEmpty() || endsAt.getAsLong() > time;
    }
}
