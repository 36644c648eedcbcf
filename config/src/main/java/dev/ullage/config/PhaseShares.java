package dev.ullage.config;

import dev.ullage.common.model.Phase;
import dev.ullage.common.model.Share;

/** The share of its limit that a rank gets in each phase. */
public record PhaseShares(
        Share init, Share forward, Share backward, Share optimizer, Share evaluation, Share checkpoint, Share idle) {

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
