package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.config.JobTerms;
import dev.ullage.coordinator.planning.ObservedNeeds.Seen;
import java.util.Optional;

/**
 * A rank process that is to have a limit.
 *
 * @param share the part of its fair limit the operator leaves it
 * @param terms what the settings say of its job
 * @param observed what it last said of itself
 * @param planned what it was estimated to need, when it was started with an estimate
 * @param limit what the operator set in the place of what its policy gives it
 * @param seen what it needs for turns by its last steps; empty: nobody looks, or its job says it
 */
public record RankRequest(
        RankInstance instance,
        Share share,
        JobTerms terms,
        RankObserved observed,
        Optional<PlannedNeeds> planned,
        Optional<MemoryBytes> limit,
        Optional<Seen> seen) {

    /** Without an estimate, for which no operator set a limit, and whose bursts nobody follows. */
    public RankRequest(RankInstance instance, Share share, JobTerms terms, RankObserved observed) {
        this(instance, share, terms, observed, Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** The same of a rank that has not said anything of itself. */
    RankRequest unobserved() {
        return new RankRequest(instance, share, terms, RankObserved.NOTHING, planned, limit, seen);
    }

    /** Of a job that no setting names, and that has not said anything of itself. */
    public RankRequest(RankInstance instance, Share share) {
        this(instance, share, JobTerms.defaults(), RankObserved.NOTHING);
    }
}
