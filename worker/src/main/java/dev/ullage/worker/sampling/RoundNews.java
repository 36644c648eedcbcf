package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceId;
import dev.ullage.worker.sampling.DeviceReaders.Measurement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Which rounds of readings are worth waking anybody for. Where devices are read ten times a second, nearly all rounds
 * say what the one before said, and to pass one on costs as much as to read it.
 *
 * <p>Passed on are: whatever differs from the round before or is no measurement; the next one after {@link #attend()},
 * which is called by whoever learnt something else that readings are judged by, or counts how many of them agree; and
 * otherwise one in each {@link #QUIET_FOR}, so that no reading looks older than it would at the usual pace.
 *
 * <p>Time is an argument. Threads: any may {@link #attend()}, one at a time asks.
 */
final class RoundNews {
    /** The usual interval between two readings. */
    static final Duration QUIET_FOR = Duration.ofSeconds(1);

    private final long quietForMillis;
    private final AtomicBoolean attended = new AtomicBoolean(true);

    private Map<DeviceId, Measurement> known = Map.of();
    private long toldAt;

    /** @param interval between two rounds */
    RoundNews(Duration interval) {
        // A beat late is still in time, half a beat early is not sooner.
        this.quietForMillis = QUIET_FOR.minus(interval.dividedBy(2)).toMillis();
    }

    /** The next round is passed on, whatever it says. */
    void attend() {
        attended.set(true);
    }

    /**
     * Whether a round is to be passed on.
     *
     * @param answers of all devices that were read in it
     * @param now in milliseconds, by any clock that is never set back
     */
    synchronized boolean isNews(Map<DeviceId, Measurement> answers, long now) {
        boolean isOther = !answers.equals(known);
        if (isOther) {
            known = Map.copyOf(answers);
        }
        boolean isAttended = attended.getAndSet(false);
        boolean isDue = now - toldAt >= quietForMillis;
        if (!isOther && !isAttended && !isDue && areUsable(answers)) {
            return false;
        }
        toldAt = now;
        return true;
    }

    /** Each reading that is not is counted as a lost one. */
    private static boolean areUsable(Map<DeviceId, Measurement> answers) {
        return answers.values().stream().allMatch(Measurement::isUsable);
    }
}
