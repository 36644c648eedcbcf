package dev.ullage.coordinator.view;

import java.time.Duration;
import java.time.Instant;

/**
 * Something a worker said.
 *
 * @param at when it came in, by the coordinator's own clock: clocks of hosts are never compared
 */
public record Heard<T>(T message, Instant at) {

    /** How long ago it came in; zero when the clock was set back since. */
    public Duration ageAt(Instant now) {
        Duration age = Duration.between(at, now);
        return age.isNegative() ? Duration.ZERO : age;
    }
}
