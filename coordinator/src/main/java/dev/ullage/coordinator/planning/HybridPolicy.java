package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.config.PolicySettings.Hybrid;
import dev.ullage.coordinator.planning.Shares.RankShare;
import java.util.OptionalLong;

/**
 * As {@code growth} until the rank reaches an epoch or a step, from then on a ratio of that. Epochs count where the
 * settings name one and the rank reports them; else steps. A rank that reports neither keeps growing, and its reason
 * says so.
 */
public final class HybridPolicy implements LimitPolicy {
    private final Hybrid settings;

    public HybridPolicy(Hybrid settings) {
        this.settings = settings;
    }

    /** How far a rank is, in the unit that counts for it; {@code at} is unknown when it does not say. */
    private record Mark(String unit, OptionalLong at, OptionalLong until) {
        boolean isReached() {
            return at.isPresent() && until.isPresent() && at.getAsLong() >= until.getAsLong();
        }

        String now() {
            return at.isPresent() ? unit + " " + at.getAsLong() : "its " + unit + " is not known";
        }

        String then() {
            return unit + " " + until.orElseThrow();
        }
    }

    @Override
    public Shares share(PlanningInput input) {
        return new Shares(input.ranks().stream().map(rank -> share(rank, input)).toList());
    }

    private Mark mark(RankObserved observed) {
        OptionalLong epoch =
                observed.watch().map(watch -> watch.progress().epoch()).orElse(OptionalLong.empty());
        boolean byEpoch = settings.untilEpoch().isPresent()
                && (epoch.isPresent() || settings.untilStep().isEmpty());
        return byEpoch
                ? new Mark("epoch", epoch, settings.untilEpoch())
                : new Mark("step", observed.step(), settings.untilStep());
    }

    private RankShare share(RankRequest rank, PlanningInput input) {
        Mark mark = mark(rank.observed());
        if (!mark.isReached()) {
            RankShare growth = GrowthPolicy.share(rank, input);
            PlanReason reason =
                    new PlanReason("%s, growth until %s: %s".formatted(mark.now(), mark.then(), growth.reason()));
            return new RankShare(rank, growth.limit(), reason, growth.phases());
        }
        MemoryBytes limit = input.equalPart().times(settings.ratio());
        return RankShare.fair(
                rank,
                limit,
                "%s, from %s on %s of %s (%s over %s) is %s"
                        .formatted(
                                mark.now(),
                                mark.then(),
                                settings.ratio(),
                                input.equalPart(),
                                input.budget(),
                                input.rankCount(),
                                limit));
    }
}
