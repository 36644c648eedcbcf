package dev.ullage.coordinator.simulation;

import dev.ullage.coordinator.planning.balance.PolicyKind;
import java.util.Optional;

/** What others have published of the same protocol. */
@FunctionalInterface
public interface Published {

    /** The figures of a published run. */
    enum Figure {
        ALLOCATED,
        STRANDED,
        STRANDED_OF_IDLE
    }

    /** The mean over ten seeds at 80, 90, 100 or 130 percent; empty when there is none for that workload and policy. */
    Optional<Double> mean(String workload, PolicyKind policy, Figure figure, int percent);
}
