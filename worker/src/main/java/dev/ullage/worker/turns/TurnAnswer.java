package dev.ullage.worker.turns;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import java.util.Optional;

/**
 * What a rank that asked for a turn is told.
 *
 * @param connection over which it asked
 * @param burst what it may use on top of its limit until it says that it has done; empty: it has no turn
 * @param reason why it has none; for people
 */
public record TurnAnswer(RankInstance instance, long connection, Optional<MemoryBytes> burst, String reason) {

    static TurnAnswer given(RankInstance instance, long connection, MemoryBytes burst) {
        return new TurnAnswer(instance, connection, Optional.of(burst), "");
    }

    static TurnAnswer refused(RankInstance instance, long connection, String reason) {
        return new TurnAnswer(instance, connection, Optional.empty(), reason);
    }
}
