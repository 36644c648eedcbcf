package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.config.PolicySettings.Hybrid;
import dev.ullage.coordinator.planning.Shares.RankShare;
import java.util.OptionalLong;

/**
 * As {@code growth} until the rank reaches a step, from then on a ratio of that. A rank that does not count its steps
 * keeps growing, and its reason says so.
 */
public final class HybridPolicy implements LimitPolicy {
    private final Hybrid settings;

    public HybridPolicy(Hybrid settings) {
        this.settings = settings;
    }

    @Override
    public Shares share(PlanningInput input) {
        return new Shares(input.ranks().stream().map(rank -> share(rank, input)).toList());
    }

    private RankShare share(RankRequest rank, PlanningInput input) {
        OptionalLong step = rank.observed().step();
        if (step.isEmpty() || step.getAsLong() < settings.untilStep()) {
            RankShare growth = GrowthPolicy.share(rank, input);
            String at = step.isEmpty() ? "its step is not known" : "step " + step.getAsLong();
            PlanReason reason =
                    new PlanReason("%s, growth until step %d: %s".formatted(at, settings.untilStep(), growth.reason()));
            return new RankShare(rank, growth.limit(), reason, growth.phases());
        }
        MemoryBytes limit = input.equalPart().times(settings.ratio());
        return RankShare.fair(
                rank,
                limit,
                "step %d, from step %d on %s of %s (%s over %s) is %s"
                        .formatted(
                                step.getAsLong(),
                                settings.untilStep(),
                                settings.ratio(),
                                input.equalPart(),
                                input.terms().budget(),
                                input.rankCount(),
                                limit));
    }
}
