package dev.ullage.worker.sampling;

import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * Begins rounds of readings on time. The thread that reads sleeps until the next one is due and begins it by itself:
 * somebody else's timer would wake a thread of its own first, its message another, and only that one the reader.
 *
 * <p>Each beat begins one round, if one is prepared, and the same one again at the next beat if it says so. Beats that
 * the machine was too busy for are left out. A thread that does not come back from a round takes the beat with it,
 * until {@link #restart()}.
 *
 * <p>Threads: any.
 */
final class ReadingPace {
    /** Where beats are run. */
    interface Threads {
        void runAfter(Duration delay, Runnable beat);
    }

    /** What is begun at a beat. */
    interface Round {
        /** @return whether it is to be run again, at the next beat */
        boolean run();
    }

    private final Threads threads;
    private final long intervalMillis;
    private final Clock clock;
    private final Deque<Round> prepared = new ArrayDeque<>();
    private long next;
    /**
     * Which beat is the one that goes on; none before the first round. A thread that comes back late has an old one.
     */
    private int newest;

    /**
     * @param interval between two beats, 1 ms or more
     * @param clock one that is never set back
     */
    ReadingPace(Threads threads, Duration interval, Clock clock) {
        this.threads = threads;
        this.intervalMillis = Math.max(1, interval.toMillis());
        this.clock = clock;
        this.next = clock.millis();
    }

    /** Has the round begun at the next beat; the first one is at once. */
    synchronized void prepare(Round round) {
        prepared.add(round);
        if (newest == 0) {
            next = clock.millis();
            startBeat();
        }
    }

    /** How long it is until the next beat. */
    synchronized Duration untilNext() {
        return Duration.ofMillis(Math.max(0, next - clock.millis()));
    }

    /** Another thread keeps the time from here on: the one that did may be stuck. */
    synchronized void restart() {
        if (newest > 0) {
            startBeat();
        }
    }

    private void startBeat() {
        int mine = ++newest;
        threads.runAfter(untilNext(), () -> beat(mine));
    }

    private void beat(int mine) {
        Optional<Round> round = take(mine);
        boolean isAgain = false;
        try {
            isAgain = round.isPresent() && round.get().run();
        } finally {
            again(mine, isAgain ? round : Optional.empty());
        }
    }

    private synchronized Optional<Round> take(int mine) {
        if (mine != newest) {
            return Optional.empty();
        }
        long missed = Math.max(0, clock.millis() - next) / intervalMillis;
        next += (missed + 1) * intervalMillis;
        return Optional.ofNullable(prepared.poll());
    }

    private synchronized void again(int mine, Optional<Round> repeated) {
        repeated.ifPresent(prepared::addFirst);
        if (mine == newest) {
            threads.runAfter(untilNext(), () -> beat(mine));
        }
    }
}
