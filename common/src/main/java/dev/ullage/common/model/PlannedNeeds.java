package dev.ullage.common.model;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * What a rank was estimated to need before its run, in bytes. The phases are those of the first iteration; the
 * optimizer's first step makes its state, which every phase holds from then on.
 *
 * @param stage its pipeline stage, 0-based
 * @param stages how many there are, 1 or more
 * @param wholeProcess whether what the process uses beside its allocator (context, libraries) is counted
 * @param microBatch samples that the rank works on at once, by the estimate; 1 or more
 * @param optimizerState what the first optimizer step makes and keeps
 */
public record PlannedNeeds(
        int stage, int stages, boolean wholeProcess, OptionalInt microBatch, Phases phases, Need optimizerState) {

    /** As no model that anyone trains has more, many times over. */
    public static final int MAX_STAGES = 1 << 16;

    public PlannedNeeds {
        if (stages < 1 || stages > MAX_STAGES || stage < 0 || stage >= stages) {
            throw new IllegalArgumentException("a stage is 0 or more and below the stages, at most %d: %d of %d"
                    .formatted(MAX_STAGES, stage, stages));
        }
        if (microBatch.isPresent() && microBatch.getAsInt() < 1) {
            throw new IllegalArgumentException("a micro-batch has 1 sample or more: " + microBatch.getAsInt());
        }
    }

    /**
     * An amount with its range.
     *
     * @param lower hardly less
     * @param point most likely
     * @param upper hardly more
     * @param state what of the point is known exactly from counts of parameters: weights, gradients, master weights,
     *     optimizer state
     */
    public record Need(MemoryBytes lower, MemoryBytes point, MemoryBytes upper, MemoryBytes state) {
        public Need {
            if (lower.isMoreThan(point) || point.isMoreThan(upper) || state.isMoreThan(point)) {
                throw new IllegalArgumentException(
                        "lower <= bytes <= upper and state <= bytes must hold: lower %d, bytes %d, upper %d, state %d"
                                .formatted(lower.value(), point.value(), upper.value(), state.value()));
            }
        }

        Need plus(Need other) {
            return new Need(
                    lower.plus(other.lower), point.plus(other.point), upper.plus(other.upper), state.plus(other.state));
        }

        private Need max(Need other) {
            return other.upper.isMoreThan(upper) ? other : this;
        }
    }

    /**
     * The peaks of the first iteration, and the highest of every later one.
     *
     * @param optimizer the first optimizer step
     */
    public record Phases(Need init, Need forward, Need backward, Need optimizer, Need steady) {}

    /** The peak of a phase in the first iteration; empty for phases that an estimate does not tell apart. */
    public Optional<Need> first(Phase phase) {
        return switch (phase) {
            case INIT -> Optional.of(phases.init());
            case FORWARD -> Optional.of(phases.forward());
            case BACKWARD -> Optional.of(phases.backward());
            case OPTIMIZER -> Optional.of(phases.optimizer());
            case EVALUATION, CHECKPOINT, IDLE -> Optional.empty();
        };
    }

    /** The peak of a phase from the second iteration on: with the optimizer's state, where it was not there before. */
    public Optional<Need> later(Phase phase) {
        return phase == Phase.FORWARD || phase == Phase.BACKWARD
                ? first(phase).map(need -> need.plus(optimizerState))
                : first(phase);
    }

    /** The most of any phase and iteration. */
    public Need highest() {
        return Stream.of(Phase.values()).flatMap(phase -> later(phase).stream()).reduce(phases.steady(), Need::max);
    }
}
