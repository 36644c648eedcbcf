package dev.ullage.config;

import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Weight;
import java.time.Duration;

/**
 * The queue of jobs that wait for room.
 *
 * @param high what this priority weighs; likewise the two that follow
 * @param age how long a job has to wait for what one whole of weight is worth
 * @param lease how long a request stays known when its submitter says nothing more
 * @param idleFor how long room that was given stays when its submitter is silent and none of its ranks is there
 * @param settleFor how long a coordinator that takes over waits to hear of requests before it places any
 * @param maxRequests how many there may be at once
 */
public record QueueSettings(
        Weight high,
        Weight medium,
        Weight low,
        Duration age,
        Duration lease,
        Duration idleFor,
        Duration settleFor,
        int maxRequests) {

    /** Basis points of one whole. */
    private static final double ONE = 10_000;

    public static QueueSettings defaults() {
        return new QueueSettings(
                new Weight(40_000),
                new Weight(20_000),
                new Weight(10_000),
                Duration.ofHours(1),
                Duration.ofSeconds(30),
                Duration.ofSeconds(60),
                Duration.ofSeconds(5),
                1_000);
    }

    /** What a priority weighs. */
    public double weight(Priority priority) {
        Weight weight =
                switch (priority) {
                    case HIGH -> high;
                    case MEDIUM -> medium;
                    case LOW -> low;
                };
        return weight.basisPoints() / ONE;
    }
}
