package dev.ullage.common.model;

import java.util.NavigableMap;

/**
 * One process of a rank on one host. A pid alone is reused by the kernel, so the start time belongs to the name; what a
 * dead process was promised is never mistaken for a promise to its successor.
 *
 * @param rank the rank this process is
 * @param pid process id on the worker's host, 1 or more
 * @param startTicks start time of the process in clock ticks since boot ({@code /proc/PID/stat} field 22), 0 or more
 */
public record RankInstance(RankId rank, long pid, long startTicks) implements Comparable<RankInstance> {
    public RankInstance {
        if (pid < 1 || startTicks < 0) {
            throw new IllegalArgumentException("no such process: pid " + pid + ", start " + startTicks);
        }
    }

    /** The part of the map that is about one rank, in whatever process: a view of it. */
    public static <V> NavigableMap<RankInstance, V> allOf(NavigableMap<RankInstance, V> ranks, RankId rank) {
        return ranks.subMap(
                new RankInstance(rank, 1, 0), true, new RankInstance(rank, Long.MAX_VALUE, Long.MAX_VALUE), true);
    }

    @Override
    public int compareTo(RankInstance other) {
        int byRank = rank.compareTo(other.rank);
        int byPid = byRank != 0 ? byRank : Long.compare(pid, other.pid);
        return byPid != 0 ? byPid : Long.compare(startTicks, other.startTicks);
    }

    @Override
    public String toString() {
        return rank + "@" + pid + ":" + startTicks;
    }
}
