package dev.ullage.coordinator.evenness;

import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What was found in how many looks in a row; whoever needs several in a row is not moved by one. Mutable, with a single
 * owner.
 */
final class Streaks<K extends Comparable<K>> {
    private final int enough;
    private final NavigableMap<K, Integer> counts = new TreeMap<>();
    private final NavigableSet<K> holding = new TreeSet<>();

    /** What a look changed. */
    enum Turn {
        /** Found often enough in a row, and not so before. */
        BEGAN,
        /** Not found often enough in a row, after it had begun. */
        ENDED,
        SAME
    }

    /** @param enough looks in a row, 1 or more */
    Streaks(int enough) {
        this.enough = enough;
    }

    /** Counts one look. */
    Turn look(K key, boolean isFound) {
        int before = counts.getOrDefault(key, 0);
        int now = isFound ? Math.min(enough, Math.max(0, before) + 1) : Math.max(-enough, Math.min(0, before) - 1);
        counts.put(key, now);
        if (now == enough && holding.add(key)) {
            return Turn.BEGAN;
        }
        if (now == -enough) {
            counts.remove(key);
            return holding.remove(key) ? Turn.ENDED : Turn.SAME;
        }
        return Turn.SAME;
    }

    /** Whether it has begun and not ended. */
    boolean isHolding(K key) {
        return holding.contains(key);
    }

    /** What has begun or is being counted. */
    NavigableSet<K> keys() {
        NavigableSet<K> keys = new TreeSet<>(counts.keySet());
        keys.addAll(holding);
        return keys;
    }

    /** As if it had never been found. */
    void forget(K key) {
        counts.remove(key);
        holding.remove(key);
    }

    void clear() {
        counts.clear();
        holding.clear();
    }
}
