package dev.ullage.cli.simulation;

/**
 * One thing that happens to the cluster, at a set time. The script of a run is a list of these: what is left out of it
 * leaves the rest in place, so a failing script can be shrunk.
 *
 * @param id position in the full script of the seed, for replays
 * @param a which host, rank, device or coordinator, to be taken modulo how many there are
 * @param b how much or how long; its meaning depends on the kind
 */
record Disturbance(int id, long atMillis, Kind kind, int a, int b) {

    /** What can happen. */
    enum Kind {
        WORKER_CRASHES,
        WORKER_CRASHES_AT_NEXT_WRITE,
        WORKER_LOSES_ITS_DISK,
        HOST_LOSES_POWER,
        RANK_JOINS,
        RANK_LEAVES,
        RANK_VANISHES,
        RANK_RESTARTS,
        RANK_EXECS,
        RANK_GOES_DEAF,
        RANK_LOSES_CONNECTION,
        COORDINATOR_CRASHES,
        COORDINATOR_STARTS,
        WORKER_FOLLOWS_ANOTHER,
        LINK_IS_CUT_ONE_WAY,
        LINK_IS_CUT,
        RESERVE_IS_SET,
        SHARE_IS_SET,
        FOREIGN_MEMORY_CHANGES,
        CAPACITY_CHANGES
    }

    @Override
    public String toString() {
        return "#%d at %d ms: %s %d %d".formatted(id, atMillis, kind, a, b);
    }
}
