package dev.ullage.config;

import dev.ullage.common.model.Phase;
import dev.ullage.common.model.Share;

/** The part of its limit a rank may use in each phase. */
public record PhaseShares(
        Share init, Share forward, Share backward, Share optimizer, Share evaluation, Share checkpoint, Share idle) {

    /** All of the limit in every phase. */
    public static PhaseShares defaults() {
        return uniform(Share.ALL);
    }

    public static PhaseShares uniform(Share share) {
        return new PhaseShares(share, share, share, share, share, share, share);
    }

    public Share in(Phase phase) {
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
}
