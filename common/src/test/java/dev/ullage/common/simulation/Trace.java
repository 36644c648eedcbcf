package dev.ullage.common.simulation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;

/**
 * What happened, in two forms: a hash of everything, always, by which two runs are compared; and the last lines for
 * people, only where they were asked for, because they cost more than the run itself.
 */
public final class Trace {
    private static final long PRIME = 0x100000001b3L;
    private static final int SHIFT = 29;

    private final VirtualTime time;
    private final int keptLines;
    private final Deque<String> lines = new ArrayDeque<>();
    private long hash = 0xcbf29ce484222325L;

    /** @param keptLines 0: the hash alone */
    public Trace(VirtualTime time, int keptLines) {
        this.time = time;
        this.keptLines = keptLines;
    }

    /** @param line made only when lines are kept */
    public void add(int what, long who, long value, Supplier<String> line) {
        mix(time.nowMillis());
        mix(what);
        mix(who);
        mix(value);
        if (keptLines > 0) {
            if (lines.size() == keptLines) {
                lines.removeFirst();
            }
            lines.addLast("%8d ms  %s".formatted(time.nowMillis(), line.get()));
        }
    }

    private void mix(long value) {
        hash = (hash ^ value) * PRIME;
        hash ^= hash >>> SHIFT;
    }

    public long hash() {
        return hash;
    }

    public List<String> lines() {
        return new ArrayList<>(lines);
    }
}
