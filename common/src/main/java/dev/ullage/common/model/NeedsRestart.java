package dev.ullage.common.model;

import java.util.Objects;

/**
 * What a rank cannot do while it runs, because its framework's limit is fixed once its runtime is up. Reported, never
 * guessed: until the restart the limit in force is the one it started with.
 *
 * @param inForce the most this process can take until it is restarted
 * @param limit what would be in force after a restart
 * @param reason why it cannot be done live, for people
 */
public record NeedsRestart(MemoryBytes inForce, MemoryBytes limit, String reason) {
    public NeedsRestart {
        Objects.requireNonNull(inForce);
        Objects.requireNonNull(limit);
        Objects.requireNonNull(reason);
    }
}
