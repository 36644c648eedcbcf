package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.MemoryBytes;
import java.util.Optional;

/**
 * Follows the use of one series and says what comes next. It holds the state of that series alone: one owner, one
 * thread. The same values give the same predictions.
 */
@FunctionalInterface
public interface DemandPredictor {

    /**
     * @param used by the rank in the step that just ended
     * @return for the step that comes now
     */
    Prediction observe(MemoryBytes used);

    /** Who answers in this one's place now, and why; for people. Empty: it answers itself. */
    default Optional<String> standIn() {
        return Optional.empty();
    }
}
