package dev.ullage.coordinator.planning;

import dev.ullage.coordinator.planning.Shares.RankShare;

/**
 * A rank may grow until the device is full, in every phase: a lone rank has the whole budget. Of several on one device
 * each has an equal part, because what two ranks may both grow into is promised twice; the reserve stays free always.
 */
public final class GrowthPolicy implements LimitPolicy {

    @Override
    public Shares share(PlanningInput input) {
        return new Shares(input.ranks().stream().map(rank -> share(rank, input)).toList());
    }

    static RankShare share(RankRequest rank, PlanningInput input) {
        return RankShare.fair(rank, input.equalPart(), explain(input)).sameInAllPhases();
    }

    private static String explain(PlanningInput input) {
        return input.ranksOnDevice() == 1
                ? "may grow into the whole budget of " + input.terms() + ", in every phase"
                : "may grow into an equal part of the budget, in every phase: %s over %s is %s"
                        .formatted(input.terms(), input.rankCount(), input.equalPart());
    }
}
