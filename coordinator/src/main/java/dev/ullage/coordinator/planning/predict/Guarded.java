package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * A predictor that learned from one kind of work is not trusted with another: while it would have missed too often, a
 * second one answers. Both see every value, so that either can take over at any step.
 */
public final class Guarded implements DemandPredictor {
    private final DemandPredictor trusted;
    private final DemandPredictor standIn;
    private final Settings settings;
    private final Deque<Boolean> misses = new ArrayDeque<>();
    private int missed;
    private Optional<MemoryBytes> limit = Optional.empty();

    /**
     * @param window steps that are looked back on, 1 to 100,000
     * @param misses of them from which on the second predictor answers, 1 or more
     */
    public record Settings(int window, int misses) {
        /** 2.5 % of 240 steps. */
        public static final Settings DEFAULTS = new Settings(240, 6);

        public Settings {
            if (window < 1 || window > 100_000 || misses < 1) {
                throw new IllegalArgumentException(
                        "misses: %d, in a window of %d: there must be 1 or more, in 1 to 100000"
                                .formatted(misses, window));
            }
        }
    }

    public Guarded(DemandPredictor trusted, DemandPredictor standIn, Settings settings) {
        this.trusted = trusted;
        this.standIn = standIn;
        this.settings = settings;
    }

    @Override
    public Prediction observe(MemoryBytes used) {
        limit.ifPresent(last -> count(used.isMoreThan(last)));
        Prediction answer = trusted.observe(used);
        Prediction other = standIn.observe(used);
        limit = Optional.of(answer.limit());
        return isTrusted() ? answer : other;
    }

    private boolean isTrusted() {
        return missed < settings.misses();
    }

    @Override
    public Optional<String> standIn() {
        return isTrusted()
                ? Optional.empty()
                : Optional.of(
                        "the rule priced stands in for it, because it would have missed %d of the last %s, %d or more"
                                .formatted(missed, Counts.of(misses.size(), "step"), settings.misses()));
    }

    private void count(boolean isMiss) {
        misses.addLast(isMiss);
        missed += isMiss ? 1 : 0;
        if (misses.size() > settings.window()) {
            missed -= misses.removeFirst() ? 1 : 0;
        }
    }
}
