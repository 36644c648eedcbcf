package dev.ullage.common.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * How long a ledger's writes took, each until it would survive a power cut.
 *
 * @param upTo in ascending order: no longer than this, and longer than the one before
 * @param longer those that took longer than all of these
 * @param sumMicros of all of them together
 */
public record WriteTimes(List<Length> upTo, long longer, long sumMicros) {
    /** A fast disk takes some tens of microseconds, a busy one of spinning disks some hundred milliseconds. */
    public static final WriteTimes NONE = new WriteTimes(
            LongStream.of(100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
                    .mapToObj(micros -> new Length(micros, 0))
                    .toList(),
            0,
            0);

    public WriteTimes {
        upTo = List.copyOf(upTo);
    }

    /** Writes of at most so many microseconds. */
    public record Length(long micros, long writes) {}

    /** @param micros 0 or more */
    public WriteTimes withOne(long micros) {
        List<Length> after = new ArrayList<>(upTo);
        for (int i = 0; i < after.size(); i++) {
            Length length = after.get(i);
            if (micros <= length.micros()) {
                after.set(i, new Length(length.micros(), length.writes() + 1));
                return new WriteTimes(after, longer, sumMicros + micros);
            }
        }
        return new WriteTimes(upTo, longer + 1, sumMicros + micros);
    }
}
