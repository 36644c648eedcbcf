package dev.ullage.common.model;

import java.util.Objects;
import java.util.function.Function;

/**
 * A rank's limit in each phase. The rank switches between them by itself when it enters a phase, so what it may use at
 * any instant is bounded by {@link #max()}: that is what the ledger counts.
 */
public record PhaseLimits(
        MemoryBytes init,
        MemoryBytes forward,
        MemoryBytes backward,
        MemoryBytes optimizer,
        MemoryBytes evaluation,
        MemoryBytes checkpoint,
        MemoryBytes idle) {

    public PhaseLimits {
        Objects.requireNonNull(init);
        Objects.requireNonNull(forward);
        Objects.requireNonNull(backward);
        Objects.requireNonNull(optimizer);
        Objects.requireNonNull(evaluation);
        Objects.requireNonNull(checkpoint);
        Objects.requireNonNull(idle);
    }

    /** The same limit in every phase. */
    public static PhaseLimits uniform(MemoryBytes limit) {
        return of(phase -> limit);
    }

    public static PhaseLimits of(Function<Phase, MemoryBytes> limit) {
        return new PhaseLimits(
                limit.apply(Phase.INIT),
                limit.apply(Phase.FORWARD),
                limit.apply(Phase.BACKWARD),
                limit.apply(Phase.OPTIMIZER),
                limit.apply(Phase.EVALUATION),
                limit.apply(Phase.CHECKPOINT),
                limit.apply(Phase.IDLE));
    }

    public MemoryBytes in(Phase phase) {
        return switch (phase) {
            case INIT -> init;
            case FORWARD -> forward;
            case BACKWARD -> backward;
            case OPTIMIZER -> optimizer;
            case EVALUATION -> evaluation;
            case CHECKPOINT -> checkpoint;
            case IDLE -> idle;
        };
    }

    /** The highest limit of any phase. */
    public MemoryBytes max() {
        return init.max(forward)
                .max(backward)
                .max(optimizer)
                .max(evaluation)
                .max(checkpoint)
                .max(idle);
    }

    /** For people: one amount when all phases are equal, else the lowest and highest. */
    @Override
    public String toString() {
        MemoryBytes min = init.min(forward)
                .min(backward)
                .min(optimizer)
                .min(evaluation)
                .min(checkpoint)
                .min(idle);
        return min.equals(max()) ? min.toString() : min + " to " + max();
    }
}
