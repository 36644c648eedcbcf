package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.util.Arrays;
import java.util.Collection;
import java.util.Optional;

/**
 * The first {@value #STEPS} steps of a series, of which its own past says little: a program that loads its model holds
 * next to nothing one step before it holds all of it. For the first {@value #STEPS_BY_OTHERS} the limit is at least
 * what others came to hold in theirs; from then on a tenth more than the most so far. After that another rule goes on,
 * which has seen every value.
 */
public final class Newborn implements DemandPredictor {
    /** So long a series is a newborn one. */
    public static final int STEPS = 30;

    static final int STEPS_BY_OTHERS = 10;
    private static final Share ROOM = Share.ofPercent(10);

    private final MemoryBytes others;
    private final DemandPredictor afterwards;
    private MemoryBytes most = MemoryBytes.ZERO;
    private int steps;

    /**
     * @param others what other series reached in their first steps
     * @param afterwards the rule for the steps after {@link #STEPS}
     */
    public Newborn(MemoryBytes others, DemandPredictor afterwards) {
        this.others = others;
        this.afterwards = afterwards;
    }

    @Override
    public Prediction observe(MemoryBytes used) {
        Prediction later = afterwards.observe(used);
        steps = Math.min(steps + 1, STEPS);
        most = most.max(used);
        return steps < STEPS ? new Prediction(limit(most, steps, others), later.forecast()) : later;
    }

    /**
     * @param most that it held so far
     * @param steps that it has done, 0 or more
     * @param others what other series reached in their first steps
     */
    public static MemoryBytes limit(MemoryBytes most, int steps, MemoryBytes others) {
        MemoryBytes byItself = Room.over(most, ROOM);
        return steps <= STEPS_BY_OTHERS ? byItself.max(others) : byItself;
    }

    /** The middle one of what they reached; the higher of two. Empty when there is none. */
    public static Optional<MemoryBytes> middle(Collection<MemoryBytes> reached) {
        if (reached.isEmpty()) {
            return Optional.empty();
        }
        long[] sorted = reached.stream().mapToLong(MemoryBytes::value).toArray();
        Arrays.sort(sorted);
        return Optional.of(MemoryBytes.of(sorted[sorted.length / 2]));
    }
}
