package dev.ullage.cli.demo;

import java.time.Duration;

/** The time since the demo began, by the monotonic clock: the demo's only look at the time. */
final class DemoClock {
    private final long start = System.nanoTime();

    Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    boolean isBefore(Duration time) {
        return elapsed().compareTo(time) < 0;
    }
}
