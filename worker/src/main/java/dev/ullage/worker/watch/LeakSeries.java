package dev.ullage.worker.watch;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankWatch.Leak;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * What one rank had allocated at the ends of its steps: the newest points, bounded, without those of the warm-up. Not
 * thread safe.
 */
public final class LeakSeries {
    /** Steps in which a training allocates what it keeps: optimizer state, workspaces, caches of compiled kernels. */
    static final long WARM_UP_STEPS = 10;

    static final int MAX_POINTS = 120;

    private final Deque<LeakVerdict.Point> points = new ArrayDeque<>();
    private Leak newest = Leak.UNKNOWN;

    /** A step ended with so much allocated. */
    public void add(long step, MemoryBytes allocated) {
        if (step <= WARM_UP_STEPS) {
            return;
        }
        points.add(new LeakVerdict.Point(step, allocated.value()));
        if (points.size() > MAX_POINTS) {
            points.removeFirst();
        }
        List<LeakVerdict.Point> now = new ArrayList<>(points);
        newest = LeakVerdict.of(now);
    }

    /** Another training begins. */
    public void clear() {
        points.clear();
        newest = Leak.UNKNOWN;
    }

    public Leak verdict() {
        return newest;
    }
}
