package dev.ullage.coordinator.planning.predict;

import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The last changes of a series: the level reached, the level left, and which way the change before had gone. Place 0 is
 * the newest.
 */
final class LevelChanges {
    private final long[] values;
    private final long[] predecessors;
    private final int[] directions;
    private int size;
    private int newest;

    LevelChanges(int kept) {
        values = new long[kept];
        predecessors = new long[kept];
        directions = new int[kept];
    }

    /** @param direction of the change before this one: 1 up, -1 down, 0 there was none */
    void add(long value, long predecessor, int direction) {
        newest = (newest + 1) % values.length;
        values[newest] = value;
        predecessors[newest] = predecessor;
        directions[newest] = direction;
        size = Math.min(size + 1, values.length);
    }

    int size() {
        return size;
    }

    long predecessor(int place) {
        return predecessors[at(place)];
    }

    int direction(int place) {
        return directions[at(place)];
    }

    long max() {
        return kept().max().orElse(0);
    }

    double mean() {
        return kept().asDoubleStream().average().orElse(0);
    }

    /** The levels reached, the newest first. */
    long[] values() {
        return kept().toArray();
    }

    private LongStream kept() {
        return IntStream.range(0, size).mapToLong(place -> values[at(place)]);
    }

    private int at(int place) {
        return Math.floorMod(newest - place, values.length);
    }
}
