package dev.ullage.common.testing;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waiting for what another thread or process does: looks again until it is so, or fails with what was waited for. */
public final class Eventually {
    private static final Duration WITHIN = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofMillis(5);

    private Eventually() {}

    public static void eventually(String what, BooleanSupplier holds) {
        long deadline = System.nanoTime() + WITHIN.toNanos();
        while (!holds.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not within " + WITHIN + ": " + what);
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }
}
