package dev.ullage.coordinator.planning.balance;

import java.util.OptionalLong;

/**
 * A job that waits for its devices.
 *
 * @param name for people
 * @param priority how much it matters, more than 0; 1 is usual
 * @param submittedAt milliseconds on the clock of whoever asks
 * @param runsFor milliseconds that it will run once started; empty when that is not known
 */
public record WaitingJob(
        String name, PlacementRequest request, double priority, long submittedAt, OptionalLong runsFor) {
    public WaitingJob {
        if (!(priority > 0) || Double.isInfinite(priority) || runsFor.orElse(0) < 0) {
            throw new IllegalArgumentException("job %s: priority must be more than 0, its time not negative: %s, %s"
                    .formatted(name, priority, runsFor));
        }
    }

    /** When it ends if it starts now; empty when its time is not known. */
    OptionalLong endsAt(long now) {
        return runsFor.isPresent() ? OptionalLong.of(now + runsFor.getAsLong()) : OptionalLong.empty();
    }
}
