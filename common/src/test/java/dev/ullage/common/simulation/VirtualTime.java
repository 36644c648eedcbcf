package dev.ullage.common.simulation;

import java.time.Instant;
import java.util.PriorityQueue;

/** A clock that moves only from one planned event to the next; events of one instant run in the order of planning. */
public final class VirtualTime {
    private static final long START_MILLIS =
            Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();

    private final PriorityQueue<Planned> queue = new PriorityQueue<>();
    private final long eventBudget;
    private long nowMillis;
    private long planned;
    private long events;

    /** @param eventBudget a run with more events than this is a flood, and ends with an exception */
    public VirtualTime(long eventBudget) {
        this.eventBudget = eventBudget;
    }

    private record Planned(long atMillis, long number, Runnable event) implements Comparable<Planned> {
        @Override
        public int compareTo(Planned other) {
            int byTime = Long.compare(atMillis, other.atMillis);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    public void after(long delayMillis, Runnable event) {
        if (delayMillis < 0) {
            throw new IllegalArgumentException("the past cannot be planned: " + delayMillis + " ms");
        }
        queue.add(new Planned(nowMillis + delayMillis, planned++, event));
    }

    /** Runs the next event; returns whether there was one. */
    public boolean step() {
        Planned next = queue.poll();
        if (next == null) {
            return false;
        }
        if (++events > eventBudget) {
            throw new EventBudgetExceededException(eventBudget);
        }
        nowMillis = next.atMillis();
        next.event().run();
        return true;
    }

    /** Since the start of the run. */
    public long nowMillis() {
        return nowMillis;
    }

    public Instant now() {
        return Instant.ofEpochMilli(START_MILLIS + nowMillis);
    }

    public long events() {
        return events;
    }

    /** The run never came to rest: something sends without end. */
    public static final class EventBudgetExceededException extends RuntimeException {
        EventBudgetExceededException(long budget) {
            super("more than " + budget + " events");
        }
    }
}
