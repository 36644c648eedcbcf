package dev.ullage.cli.simulation;

import java.util.Comparator;
import java.util.PriorityQueue;

/** Things that happen at a millisecond, in the order they were planned in. */
final class VirtualTime {
    private record Event(long at, long number, Runnable action) {}

    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
    private long now;
    private long number;

    /** Milliseconds since the start. */
    long now() {
        return now;
    }

    void after(long millis, Runnable action) {
        events.add(new Event(now + millis, number++, action));
    }

    void every(long millis, Runnable action) {
        after(millis, () -> {
            action.run();
            every(millis, action);
        });
    }

    /** Lets everything happen that happens before {@code end}. */
    void runUntil(long end) {
        while (!events.isEmpty() && events.peek().at() < end) {
            Event event = events.remove();
            now = event.at();
            event.action().run();
        }
    }
}
