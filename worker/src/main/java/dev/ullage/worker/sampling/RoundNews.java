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
 * <p>Passed on are: whatever differs from the round before or is no measurement; what somebody asked for; and otherwise
 * a round when the last one passed on is about {@link #QUIET_FOR} old, so that no reading looks older than it would at
 * the usual pace.
 *
 * <p>Time is an argument. Threads: any may ask for rounds, one at a time says what was read.
 */
final class RoundNews implements Attention {
    /** The usual interval between two readings. */
    static final Duration QUIET_FOR = Duration.ofSeconds(1);

    private final long quietForMillis;
    private final AtomicBoolean isNextWanted = new AtomicBoolean(true);
    private final AtomicBoolean isWantedSoon = new AtomicBoolean();

    private Map<DeviceId, Measurement> known = Map.of();
    private long toldAt;

    /** @param interval between two rounds */
    RoundNews(Duration interval) {
        // Of two rounds, one before that time and one after it, the nearer one.
        this.quietForMillis = QUIET_FOR.minus(interval.dividedBy(2)).toMillis();
    }

    @Override
    public void next() {
        isNextWanted.set(true);
    }

    @Override
    public void soon() {
        isWantedSoon.set(true);
    }

    /**
     * Whether a round is to be passed on.
     *
     * @param answers of all devices that were read in it
     * @param isMeasured whether each of them is a measurement, or of a device that is not there any more: those that
     *     are not are counted as lost ones
     * @param now in milliseconds, by any clock that is never set back
     */
    synchronized boolean isNews(Map<DeviceId, Measurement> answers, boolean isMeasured, long now) {
        boolean isOther = !answers.equals(known);
        if (isOther) {
            known = Map.copyOf(answers);
        }
        boolean isWanted = isNextWanted.getAndSet(false);
        boolean isSoon = isWantedSoon.getAndSet(false);
        boolean isDue = now - toldAt >= (isSoon ? ReportPace.SHORTEST.toMillis() : quietForMillis);
        if (!isOther && !isWanted && !isDue && isMeasured) {
            if (isSoon) {
                isWantedSoon.set(true);
            }
            return false;
        }
        toldAt = now;
        return true;
    }
}
