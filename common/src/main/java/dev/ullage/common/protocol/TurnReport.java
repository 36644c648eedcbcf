package dev.ullage.common.protocol;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * Who takes turns on a device, at one moment. Soft: after a restart of the worker the ranks say it again.
 *
 * @param plan the newest; empty when none takes turns, or no coordinator has said so since the worker's start
 * @param out what bursts on the device may come to now
 * @param holding jobs that have a turn
 * @param waiting ranks that wait for one, first come first
 */
public record TurnReport(
        Optional<TurnPlan> plan, MemoryBytes out, List<Holder> holding, List<Waiter> waiting, Counts counts) {
    public static final TurnReport NONE =
            new TurnReport(Optional.empty(), MemoryBytes.ZERO, List.of(), List.of(), Counts.NONE);

    public TurnReport {
        holding = List.copyOf(holding);
        waiting = List.copyOf(waiting);
    }

    public record Holder(JobId job, long heldMillis) {}

    public record Waiter(RankInstance instance, long waitedMillis) {}

    /**
     * Counted by rank, since the worker's start.
     *
     * @param given turns that a rank of this device was given
     * @param waits those of them, and those in vain, that it had to wait for
     * @param waitedMillis how long all of these took together
     * @param missed waits that ended at the deadline, without a turn
     * @param waitsByLength the waits by how long they were; an older worker does not say
     */
    public record Counts(long given, long waits, long waitedMillis, long missed, Optional<WaitLengths> waitsByLength) {
        public static final Counts NONE = new Counts(0, 0, 0, 0, Optional.of(WaitLengths.NONE));

        public Counts oneGiven() {
            return new Counts(given + 1, waits, waitedMillis, missed, waitsByLength);
        }

        public Counts oneMissed() {
            return new Counts(given, waits, waitedMillis, missed + 1, waitsByLength);
        }

        public Counts waited(long millis) {
            return new Counts(
                    given,
                    waits + 1,
                    waitedMillis + millis,
                    missed,
                    waitsByLength.map(lengths -> lengths.withOne(millis)));
        }
    }

    /**
     * How many waits there were of each length.
     *
     * @param upTo in ascending order: no longer than this, and longer than the one before
     * @param longer than all of these
     */
    public record WaitLengths(List<Length> upTo, long longer) {
        /** A step's burst is some milliseconds to some seconds; the deadline of a wait is a minute by default. */
        public static final WaitLengths NONE = new WaitLengths(
                LongStream.of(10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 60_000)
                        .mapToObj(millis -> new Length(millis, 0))
                        .toList(),
                0);

        public WaitLengths {
            upTo = List.copyOf(upTo);
        }

        /** Waits of at most so many milliseconds. */
        public record Length(long millis, long waits) {}

        WaitLengths withOne(long millis) {
            List<Length> after = new ArrayList<>(upTo);
            for (int i = 0; i < after.size(); i++) {
                Length length = after.get(i);
                if (millis <= length.millis()) {
                    after.set(i, new Length(length.millis(), length.waits() + 1));
                    return new WaitLengths(after, longer);
                }
            }
            return new WaitLengths(upTo, longer + 1);
        }
    }
}
