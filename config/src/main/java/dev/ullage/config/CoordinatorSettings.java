package dev.ullage.config;

import java.time.Duration;

/**
 * The pace of the coordinator. Every duration is longer than zero.
 *
 * @param tick how often it plans and looks after its rollouts
 * @param claimFor how long it listens for the tokens of others before it claims its own
 * @param learnFor how long it waits for devices that do not report before it plans for those that did
 * @param staleAfter age from which a ledger's report is no base for a plan
 * @param forgetAfter silence after which a node is no longer shown
 * @param stallAfter time after which a plan that has not settled is called stalled
 * @param resendAfter pause before a desire that has not settled is sent again
 * @param queue of the jobs that wait for room
 */
public record CoordinatorSettings(
        Duration tick,
        Duration claimFor,
        Duration learnFor,
        Duration staleAfter,
        Duration forgetAfter,
        Duration stallAfter,
        Duration resendAfter,
        QueueSettings queue) {

    /** With the queue as shipped. */
    public CoordinatorSettings(
            Duration tick,
            Duration claimFor,
            Duration learnFor,
            Duration staleAfter,
            Duration forgetAfter,
            Duration stallAfter,
            Duration resendAfter) {
        this(
                positive("tick", tick),
                positive("claim-for", claimFor),
                positive("learn-for", learnFor),
                positive("stale-after", staleAfter),
                positive("forget-after", forgetAfter),
                positive("stall-after", stallAfter),
                positive("resend-after", resendAfter),
                QueueSettings.defaults());
    }

    public static CoordinatorSettings defaults() {
        return new CoordinatorSettings(
                Duration.ofMillis(250),
                Duration.ofMillis(300),
                Duration.ofSeconds(1),
                Duration.ofSeconds(5),
                Duration.ofSeconds(60),
                Duration.ofSeconds(10),
                Duration.ofSeconds(2));
    }

    private static Duration positive(String name, Duration value) {
        if (value.isZero() || value.isNegative()) {
            throw new IllegalArgumentException(name + " must be longer than zero: " + value);
        }
        return value;
    }
}
