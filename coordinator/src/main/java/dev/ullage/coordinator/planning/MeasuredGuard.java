package dev.ullage.coordinator.planning;

import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.SampleState;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.DeviceTarget.RankTarget;
import java.util.Optional;

/**
 * No limit grows on a device whose worker cannot measure it: what strangers hold there, and whether the device still
 * works, is not known. Shrinks pass.
 *
 * <p>Where nothing at all can be promised no limit changes: either the device was never read, or its memory has gone to
 * MIG instances. What its ranks hold is not there any more, or not known, and the least limit would be no help to them.
 */
public record MeasuredGuard() implements PlanGuard {

    @Override
    public Optional<Veto> check(Proposal proposal) {
        if (proposal.terms().allocatable().isZero()) {
            return Optional.of(new Veto(
                    Rule.MEASURED,
                    new PlanReason("no plan for %s: nothing can be promised on it: it was never read, or its memory is"
                                    .formatted(proposal.plan().device())
                            + " that of MIG instances now")));
        }
        Optional<SampleState> state = proposal.sample().filter(known -> known != SampleState.FRESH);
        if (state.isEmpty()) {
            return Optional.empty();
        }
        return proposal.plan().limits().stream()
                .filter(limit -> grows(limit, proposal.before()))
                .findFirst()
                .map(limit -> new Veto(
                        Rule.MEASURED,
                        new PlanReason("no plan for %s: its readings are %s and rank %s would grow to %s"
                                .formatted(
                                        proposal.plan().device(),
                                        state.get().label(),
                                        limit.instance().rank(),
                                        limit.limits().max()))));
    }

    private static boolean grows(PlannedLimit limit, DeviceTarget before) {
        Optional<PhaseLimits> limits = before.rank(limit.instance()).flatMap(RankTarget::limits);
        return limits.isEmpty() || limit.limits().max().isMoreThan(limits.get().max());
    }
}
