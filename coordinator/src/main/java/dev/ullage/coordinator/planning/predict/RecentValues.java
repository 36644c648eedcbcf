package dev.ullage.coordinator.planning.predict;

import java.util.Arrays;

/** The last so many values of a series, in bytes. */
final class RecentValues {
    private final long[] ring;
    private int size;
    private int next;

    RecentValues(int window) {
        ring = new long[window];
    }

    void add(long value) {
        ring[next] = value;
        next = (next + 1) % ring.length;
        size = Math.min(size + 1, ring.length);
    }

    /** Zero when there is none. */
    long max() {
        return Arrays.stream(ring, 0, size).max().orElse(0);
    }

    /** The smallest value that at least this share of the values do not exceed; there is at least one. */
    long quantile(int basisPoints) {
        long[] sorted = Arrays.copyOf(ring, size);
        Arrays.sort(sorted);
        long rank = ((long) size * basisPoints + 9_999) / 10_000;
        return sorted[Math.toIntExact(Math.max(1, rank)) - 1];
    }
}
