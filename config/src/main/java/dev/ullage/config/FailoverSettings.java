package dev.ullage.config;

import java.time.Duration;

/**
 * How fast a dead coordinator is noticed and replaced; the same on all nodes.
 *
 * @param stableAfter how long membership must not change before a split is decided
 * @param heartbeatInterval between two signs of life of a node
 * @param acceptableHeartbeatPause how long they may be missing; longer than the interval
 */
public record FailoverSettings(Duration stableAfter, Duration heartbeatInterval, Duration acceptableHeartbeatPause) {
    /** Measured: the next coordinator plans after 5.8 to 6.8 s; docs/operations.md, "Failover", has more. */
    public static final FailoverSettings FAST =
            new FailoverSettings(Duration.ofSeconds(1), Duration.ofMillis(500), Duration.ofSeconds(1));
}
