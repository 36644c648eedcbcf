package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;

/**
 * For training, which repeats: what was used at the same place of the last periods (training steps), and just before
 * and after it, with some room. Until one period is complete the largest value so far stands in.
 */
public final class Periodic implements DemandPredictor {
    private final Settings settings;
    private final RecentValues sinceStart;
    private final long[][] periods;
    private long seen;

    /**
     * @param period values a training step has, 2 to 100,000
     * @param periods training steps that are looked at, 1 to 100
     * @param room on top of the largest
     */
    public record Settings(int period, int periods, Share room) {
        public Settings {
            if (period < 2 || period > 100_000 || periods < 1 || periods > 100) {
                throw new IllegalArgumentException(
                        "%d periods of %d values: there must be 1 to 100, of 2 to 100000".formatted(periods, period));
            }
        }
    }

    public Periodic(Settings settings) {
        this.settings = settings;
        sinceStart = new RecentValues(settings.period());
        periods = new long[settings.periods()][settings.period()];
    }

    @Override
    public Prediction observe(MemoryBytes used) {
        int place = (int) (seen % settings.period());
        periods[(int) (seen / settings.period() % settings.periods())][place] = used.value();
        sinceStart.add(used.value());
        seen++;
        if (seen < settings.period()) {
            return new Prediction(Room.over(MemoryBytes.of(sinceStart.max()), settings.room()), used);
        }
        int next = (int) (seen % settings.period());
        return new Prediction(Room.over(MemoryBytes.of(around(next)), settings.room()), before(next));
    }

    /** A place that is not filled yet counts as zero, and so does not count. */
    private long around(int place) {
        long most = 0;
        for (long[] values : periods) {
            for (int shift = -1; shift <= 1; shift++) {
                most = Math.max(most, values[Math.floorMod(place + shift, settings.period())]);
            }
        }
        return most;
    }

    /** What was used at this place one period ago. */
    private MemoryBytes before(int place) {
        long period = (seen - settings.period()) / settings.period() % settings.periods();
        return MemoryBytes.of(periods[(int) period][place]);
    }
}
