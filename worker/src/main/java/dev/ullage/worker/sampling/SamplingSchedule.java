package dev.ullage.worker.sampling;

import dev.ullage.common.model.SampleState;
import java.time.Duration;

/**
 * When a device is read and how old its newest reading may be. Pure.
 *
 * @param interval between the starts of two rounds
 * @param deadline after which a call that has not come back counts as a lost sample
 * @param staleAfter age from which a reading is {@link SampleState#STALE}
 * @param lostAfter age from which it is {@link SampleState#LOST}
 */
public record SamplingSchedule(Duration interval, Duration deadline, Duration staleAfter, Duration lostAfter) {
    private static final Duration SHORTEST_DEADLINE = Duration.ofSeconds(1);

    public SamplingSchedule {
        if (interval.isNegative() || interval.isZero() || deadline.isNegative()) {
            throw new IllegalArgumentException(
                    "interval %s and deadline %s must be above 0".formatted(interval, deadline));
        }
        if (staleAfter.compareTo(interval) <= 0 || lostAfter.compareTo(staleAfter) <= 0) {
            throw new IllegalArgumentException("interval %s, stale after %s, lost after %s must each be longer"
                    .formatted(interval, staleAfter, lostAfter));
        }
    }

    /** A call has a second, or an interval if that is longer; two such are missed before stale, ten before lost. */
    public static SamplingSchedule every(Duration interval) {
        Duration deadline = interval.compareTo(SHORTEST_DEADLINE) > 0 ? interval : SHORTEST_DEADLINE;
        return new SamplingSchedule(
                interval, deadline, interval.plus(deadline.multipliedBy(2)), interval.plus(deadline.multipliedBy(10)));
    }

    SampleState stateAt(Duration age) {
        if (age.compareTo(lostAfter) >= 0) {
            return SampleState.LOST;
        }
        return age.compareTo(staleAfter) >= 0 ? SampleState.STALE : SampleState.FRESH;
    }
}
