package dev.ullage.coordinator.leadership;

import java.util.EnumSet;
import java.util.Set;

/**
 * Whether a coordinator may plan.
 *
 * <pre>
 *   CLAIMING --own token above all seen--> LEARNING --every device reported, or time is up--> ACTIVE
 *      ^                                      |                                                 |
 *      +------------ a higher token was seen -+-------------------------------------------------+
 *   each of them --told to stop--> STEPPING_DOWN
 * </pre>
 */
public enum LeadershipState {
    /** Listens for the tokens of others; has none of its own. */
    CLAIMING,
    /** Has a token; asks every device to obey it and to report. */
    LEARNING,
    /** Plans. */
    ACTIVE,
    /** Plans no more; every limit stays as it is. */
    STEPPING_DOWN;

    /** The states that may follow this one. */
    public Set<LeadershipState> next() {
        return switch (this) {
            case CLAIMING -> EnumSet.of(LEARNING, STEPPING_DOWN);
            case LEARNING -> EnumSet.of(ACTIVE, CLAIMING, STEPPING_DOWN);
            case ACTIVE -> EnumSet.of(CLAIMING, STEPPING_DOWN);
            case STEPPING_DOWN -> EnumSet.noneOf(LeadershipState.class);
        };
    }

    public boolean allows(LeadershipState next) {
        return next().contains(next);
    }
}
