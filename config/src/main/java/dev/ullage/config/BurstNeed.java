package dev.ullage.config;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import java.util.List;

/**
 * What one rank of a job needs, by what is known of it: little for most of a step, much in its burst.
 *
 * @param persistent the most it holds outside of the burst
 * @param peak the most it holds in the burst; more than {@code persistent}
 * @param phases the burst
 */
public record BurstNeed(MemoryBytes persistent, MemoryBytes peak, List<Phase> phases) {
    /** Activations pile up on the way forward and go on the way back. */
    public static final List<Phase> DEFAULT_PHASES = List.of(Phase.FORWARD, Phase.BACKWARD);

    public BurstNeed {
        phases = List.copyOf(phases);
        if (!peak.isMoreThan(persistent) || phases.isEmpty()) {
            throw new IllegalArgumentException(
                    "a burst from " + persistent + " to " + peak + " in " + phases + " is none");
        }
    }

    /** What a turn adds to the limit. */
    public MemoryBytes burst() {
        return peak.minus(persistent);
    }
}
