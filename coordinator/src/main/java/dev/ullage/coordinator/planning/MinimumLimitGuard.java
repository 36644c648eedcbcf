package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import java.util.Optional;

/** No rank is given, in any phase, a limit it could not run with. */
public record MinimumLimitGuard(MemoryBytes minimum) implements PlanGuard {

    @Override
    public Optional<Veto> check(Proposal proposal) {
        return proposal.plan().limits().stream()
                .flatMap(limit -> check(proposal.plan(), limit).stream())
                .findFirst();
    }

    private Optional<Veto> check(DevicePlan plan, PlannedLimit limit) {
        for (Phase phase : Phase.values()) {
            MemoryBytes inPhase = limit.limits().in(phase);
            if (minimum.isMoreThan(inPhase)) {
                return Optional.of(new Veto(
                        Rule.MINIMUM,
                        new PlanReason("no plan for %s: rank %s would get %s in %s, less than the minimum %s (%s)"
                                .formatted(
                                        plan.device(),
                                        limit.instance().rank(),
                                        inPhase,
                                        phase,
                                        minimum,
                                        limit.reason()))));
            }
        }
        return Optional.empty();
    }
}
