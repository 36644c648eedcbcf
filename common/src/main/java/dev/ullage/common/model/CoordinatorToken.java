package dev.ullage.common.model;

import java.util.Comparator;

/**
 * A coordinator's fencing token. A worker obeys the highest it has ever seen and answers a lower one with what it has
 * seen. The epoch grows with every take-over; the uid separates two coordinators that claimed the same epoch.
 *
 * @param epoch 1 or more
 * @param uid the coordinator's own random id, not blank
 */
public record CoordinatorToken(long epoch, String uid) implements Comparable<CoordinatorToken> {
    private static final Comparator<CoordinatorToken> ORDER =
            Comparator.comparingLong(CoordinatorToken::epoch).thenComparing(CoordinatorToken::uid);
    private static final int MAX_UID_LENGTH = 64;

    public CoordinatorToken {
        if (epoch < 1) {
            throw new IllegalArgumentException("epoch must be 1 or more: " + epoch);
        }
        Names.requireName("uid", uid, MAX_UID_LENGTH);
    }

    public boolean isOlderThan(CoordinatorToken other) {
        return compareTo(other) < 0;
    }

    @Override
    public int compareTo(CoordinatorToken other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return epoch + ":" + uid;
    }
}
