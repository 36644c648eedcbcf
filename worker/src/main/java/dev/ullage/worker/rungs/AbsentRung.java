package dev.ullage.worker.rungs;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.RankInstance;

/** A mechanism that this worker does not have, and why. */
record AbsentRung(EnforcedBy name, String why) implements Rung {

    @Override
    public Attempt probe(RankProcess process) {
        return new Impossible(why);
    }

    @Override
    public void clear(RankInstance instance) {
        // Nothing is kept.
    }
}
