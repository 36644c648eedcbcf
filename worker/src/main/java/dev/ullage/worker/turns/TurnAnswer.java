package dev.ullage.worker.turns;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import java.util.Optional;

/**
 * What a rank that asked for a turn is told.
 *
 * @param ask the number it took
 * @param burst what it may use on top of its limit until it says that it has done; empty: it has no turn
 * @param reason why it has none; for people
 */
public record TurnAnswer(RankInstance instance, long ask, Optional<MemoryBytes> burst, String reason) {

    static TurnAnswer given(RankInstance instance, long ask, MemoryBytes burst) {
        return new TurnAnswer(instance, ask, Optional.of(burst), "");
    }

    static TurnAnswer refused(RankInstance instance, long ask, String reason) {
        return new TurnAnswer(instance, ask, Optional.empty(), reason);
    }
}
