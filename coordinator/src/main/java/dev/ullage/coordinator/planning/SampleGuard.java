package dev.ullage.coordinator.planning;

import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.DeviceTarget.RankTarget;
import java.util.Optional;

/**
 * A policy that looks at what ranks do changes no limit of a rank it cannot see: after a takeover by another
 * coordinator, or a restart of the worker, every limit would otherwise move to what an unknown rank gets and back
 * again. Nor are turns taken from a rank that cannot be seen, where they follow from what it does.
 *
 * <p>It never holds back what somebody asked for (a new rank, another reserve or share), nor a plan without which the
 * targets would not fit the budget.
 */
public record SampleGuard() implements PlanGuard {

    @Override
    public Optional<Veto> check(Proposal proposal) {
        DevicePlan plan = proposal.plan();
        DeviceTarget before = proposal.before();
        if (proposal.unseen().isEmpty()
                || !plan.reserve().equals(before.reserve())
                || (!plan.turns().equals(before.turns())
                        && proposal.unseen().stream().noneMatch(before::takesTurns))
                || before.promised().isMoreThan(proposal.terms().budget())
                || plan.limits().stream().anyMatch(limit -> isAskedFor(limit, before))) {
            return Optional.empty();
        }
        return Optional.of(new Veto(
                Rule.SAMPLE,
                new PlanReason("no plan for %s: it follows from what %s does, and no sample says so yet"
                        .formatted(plan.device(), proposal.unseen().get(0).rank()))));
    }

    private static boolean isAskedFor(PlannedLimit limit, DeviceTarget before) {
        Optional<RankTarget> target = before.rank(limit.instance());
        return target.flatMap(RankTarget::limits).isEmpty()
                || !target.get().share().equals(limit.share());
    }
}
