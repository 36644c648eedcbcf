package dev.ullage.common.model;

import java.util.Comparator;

/**
 * One process of a rank on one host. A pid alone is reused by the kernel, so the start time belongs to the name; what a
 * dead process was promised is never mistaken for a promise to its successor.
 *
 * @param rank the rank this process is
 * @param pid process id on the worker's host, 1 or more
 * @param startTicks start time of the process in clock ticks since boot ({@code /proc/PID/stat} field 22), 0 or more
 */
public record RankInstance(RankId rank, long pid, long startTicks) implements Comparable<RankInstance> {
    private static final Comparator<RankInstance> ORDER = Comparator.comparing(RankInstance::rank)
            .thenComparingLong(RankInstance::pid)
            .thenComparingLong(RankInstance::startTicks);

    public RankInstance {
        if (pid < 1 || startTicks < 0) {
            throw new IllegalArgumentException("no such process: pid " + pid + ", start " + startTicks);
        }
    }

    @Override
    public int compareTo(RankInstance other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return rank + "@" + pid + ":" + startTicks;
    }
}
