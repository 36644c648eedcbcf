package dev.ullage.worker.sampling;

import dev.ullage.common.model.MemoryBytes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The foreign memory to plan with where only {@link ForeignBounds} are known. What ranks say and what the device shows
 * are of different moments: one that grew in between makes a bound too high, one that let go of memory too low. So the
 * middle one of the last bounds counts, and of fewer the highest. One owner; soft.
 */
final class SteadyBound {
    /** Up to two of them in a row may be wrong. */
    static final int WINDOW = 5;

    private final Deque<MemoryBytes> recent = new ArrayDeque<>();
    private boolean isSettled;

    /**
     * Never more than is in use.
     *
     * @param known what was planned with so far; empty when nothing is known
     */
    MemoryBytes next(ForeignBounds bounds, Optional<MemoryBytes> known) {
        MemoryBytes all = bounds.used().roundedUpTo(ForeignMemory.GRANULE);
        isSettled = bounds.isSettled();
        MemoryBytes likely = isSettled ? middle(bounds) : known.orElse(bounds.most());
        return likely.max(bounds.least()).min(all);
    }

    private MemoryBytes middle(ForeignBounds bounds) {
        recent.addLast(bounds.most());
        if (recent.size() > WINDOW) {
            recent.removeFirst();
        }
        List<MemoryBytes> sorted = new ArrayList<>(recent);
        Collections.sort(sorted);
        return sorted.get(recent.size() < WINDOW ? recent.size() - 1 : WINDOW / 2);
    }

    /** Whether more of the same would change what is likely. */
    boolean isCounting() {
        return isSettled
                && (recent.size() < WINDOW || recent.stream().distinct().count() > 1);
    }

    void forget() {
        recent.clear();
        isSettled = false;
    }
}
