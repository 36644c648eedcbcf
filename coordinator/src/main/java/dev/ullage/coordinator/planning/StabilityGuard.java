package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Share;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.DeviceTarget.RankTarget;
import java.util.Optional;

/**
 * Against flapping: a plan that moves every limit by less than the dead band is not carried out.
 *
 * <p>It never holds back what somebody asked for (another set of ranks, a rank without a limit, another reserve or
 * share, a limit that an operator set), nor a shrink without which the targets would not fit the budget, nor a plan
 * that takes charge of ranks that an earlier coordinator left unsettled: without one nobody would see that they stall.
 */
public record StabilityGuard(Share deadBand) implements PlanGuard {

    @Override
    public Optional<Veto> check(Proposal proposal) {
        DeviceTarget before = proposal.before();
        DevicePlan plan = proposal.plan();
        boolean asked = before.isUnattended()
                || !plan.reserve().equals(before.reserve())
                || !plan.turns().equals(before.turns())
                || plan.limits().size() != before.ranks().size();
        boolean fits = !before.promised().isMoreThan(proposal.terms().budget());
        Share ignored = fits ? deadBand : Share.NONE;
        boolean isWorthwhile = asked;
        for (PlannedLimit limit : plan.limits()) {
            isWorthwhile |= isWorthwhile(limit, before, isSet(limit, proposal) ? Share.NONE : ignored);
        }
        if (isWorthwhile) {
            return Optional.empty();
        }
        return Optional.of(new Veto(
                Rule.STABILITY,
                new PlanReason("no plan for " + plan.device() + ": no limit would change by " + deadBand)));
    }

    /** Whether the rank gets just what an operator set. */
    private static boolean isSet(PlannedLimit limit, Proposal proposal) {
        return limit.limits().max().equals(proposal.setLimits().get(limit.instance()));
    }

    private static boolean isWorthwhile(PlannedLimit limit, DeviceTarget before, Share ignored) {
        Optional<RankTarget> target = before.rank(limit.instance());
        Optional<PhaseLimits> limits = target.flatMap(RankTarget::limits);
        return limits.isEmpty()
                || !target.get().share().equals(limit.share())
                || isMoreThan(ignored, limits.get(), limit.limits());
    }

    private static boolean isMoreThan(Share ignored, PhaseLimits before, PhaseLimits after) {
        for (Phase phase : Phase.values()) {
            MemoryBytes from = before.in(phase);
            MemoryBytes to = after.in(phase);
            MemoryBytes change = from.max(to).minus(from.min(to));
            if (!change.isZero() && !from.times(ignored).isMoreThan(change)) {
                return true;
            }
        }
        return false;
    }
}
