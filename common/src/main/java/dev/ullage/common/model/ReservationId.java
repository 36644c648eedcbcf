package dev.ullage.common.model;

import java.util.Comparator;

/**
 * The name of one attempt to place a job: never used again, because a coordinator's token is not, and the coordinator
 * counts.
 *
 * @param job whose ranks the room is for
 * @param token of the coordinator that made it
 * @param number 1 or more; grows with every attempt of that coordinator
 */
public record ReservationId(JobId job, CoordinatorToken token, long number) implements Comparable<ReservationId> {
    private static final Comparator<ReservationId> ORDER = Comparator.comparing(ReservationId::job)
            .thenComparing(ReservationId::token)
            .thenComparingLong(ReservationId::number);

    public ReservationId {
        if (number < 1) {
            throw new IllegalArgumentException("the number of a reservation must be 1 or more: " + number);
        }
    }

    @Override
    public int compareTo(ReservationId other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return job + "#" + token + "#" + number;
    }
}
