package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.util.Optional;

/** The largest of the last values, with some room. */
public final class RollingMax implements DemandPredictor {
    private final Settings settings;
    private final RecentValues recent;
    private Optional<MemoryBytes> last = Optional.empty();

    /**
     * @param window steps that are looked at, 1 to 100,000
     * @param room on top of the largest
     * @param lastWhenIdle the last value is the limit after a step that changed nothing: most such steps are followed
     *     by another
     */
    public record Settings(int window, Share room, boolean lastWhenIdle) {
        public Settings {
            if (window < 1 || window > 100_000) {
                throw new IllegalArgumentException("a window of " + window + ": it must be 1 to 100000 steps");
            }
        }
    }

    public RollingMax(Settings settings) {
        this.settings = settings;
        recent = new RecentValues(settings.window());
    }

    @Override
    public Prediction observe(MemoryBytes used) {
        boolean isIdle = last.filter(used::equals).isPresent();
        last = Optional.of(used);
        recent.add(used.value());
        MemoryBytes limit =
                settings.lastWhenIdle() && isIdle ? used : Room.over(MemoryBytes.of(recent.max()), settings.room());
        return new Prediction(limit, used);
    }
}
