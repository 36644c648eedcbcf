package dev.ullage.cli.process;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waiting for other processes: looks again and again until a deadline, and fails saying what it last saw. */
final class Eventually {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private Eventually() {}

    /** The first value that {@code look} finds; fails with {@code lastSeen} when there is none in time. */
    static <T> T find(String what, Duration within, Supplier<Optional<T>> look, Supplier<String> lastSeen) {
        long deadline = System.nanoTime() + within.toNanos();
        do {
            Optional<T> found = look.get();
            if (found.isPresent()) {
                return found.get();
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        } while (System.nanoTime() < deadline);
        throw new AssertionError(
                "not within " + within.toMillis() + " ms: " + what + "\nlast seen:\n" + lastSeen.get());
    }

    /** Waits until the condition holds. */
    static void holds(String what, Duration within, BooleanSupplier condition, Supplier<String> lastSeen) {
        find(what, within, () -> condition.getAsBoolean() ? Optional.of(true) : Optional.empty(), lastSeen);
    }
}
