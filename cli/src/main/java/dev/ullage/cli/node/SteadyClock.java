package dev.ullage.cli.node;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/**
 * A clock that starts at the wall clock's time and is never set: deadlines and ages must not move because somebody, or
 * NTP, corrected the time of day.
 */
public final class SteadyClock extends Clock {
    private final Instant start = Instant.now();
    private final long startNanos = System.nanoTime();

    @Override
    public Instant instant() {
        return start.plusNanos(System.nanoTime() - startNanos);
    }

    @Override
    public ZoneId getZone() {
        return ZoneOffset.UTC;
    }

    /** This clock: it has no other zone. */
    @Override
    public Clock withZone(ZoneId zone) {
        return this;
    }
}
