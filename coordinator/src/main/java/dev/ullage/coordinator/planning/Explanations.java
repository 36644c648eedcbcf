package dev.ullage.coordinator.planning;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.RankNeeds;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.Explanation;
import dev.ullage.common.protocol.ToOperator.RankReason;
import dev.ullage.config.JobTerms;
import dev.ullage.config.PolicySettings;
import dev.ullage.coordinator.planning.PlanGuard.Rule;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import dev.ullage.coordinator.view.DeviceView;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/** What planning last came to, for people: carried out or not. */
public final class Explanations {
    private Explanations() {}

    /** One for each device that was planned. */
    public static NavigableMap<DeviceId, Explanation> of(
            List<PlanOutcome> outcomes, PolicySettings policies, Situation situation) {
        NavigableMap<DeviceId, Explanation> explanations = new TreeMap<>();
        outcomes.forEach(outcome -> explanations.put(
                outcome.device(),
                of(outcome, terms(outcome, policies, situation), needs(outcome, policies, situation))));
        return Collections.unmodifiableNavigableMap(explanations);
    }

    private static NavigableMap<RankInstance, JobTerms> terms(
            PlanOutcome outcome, PolicySettings settings, Situation situation) {
        NavigableMap<RankInstance, JobTerms> terms = new TreeMap<>();
        situation.view().device(outcome.device()).flatMap(DeviceView::report).ifPresent(report -> report.message()
                .ledger()
                .grants()
                .forEach(grant -> terms.put(grant.instance(), JobPolicies.terms(grant, settings, situation.wishes()))));
        return terms;
    }

    /** Of the ranks that were started with an estimate, whatever policy they follow. */
    private static NavigableMap<RankInstance, RankNeeds> needs(
            PlanOutcome outcome, PolicySettings settings, Situation situation) {
        NavigableMap<RankInstance, RankNeeds> needs = new TreeMap<>();
        Optional<DeviceView> estimated = situation
                .view()
                .device(outcome.device())
                .filter(device -> device.report().stream()
                        .flatMap(report -> report.message().ledger().grants().stream())
                        .anyMatch(grant ->
                                JobPolicies.planned(grant, situation.wishes()).isPresent()));
        estimated.ifPresent(device -> {
            NavigableMap<RankInstance, RankObserved> observed = RankObserved.of(device);
            device.report()
                    .ifPresent(report -> report.message().ledger().grants().forEach(grant -> JobPolicies.planned(
                                    grant, situation.wishes())
                            .ifPresent(planned -> needs.put(
                                    grant.instance(),
                                    NeedsReport.of(
                                            planned,
                                            observed.getOrDefault(grant.instance(), RankObserved.NOTHING),
                                            settings.planned(),
                                            room(grant, report.message().ledger()))))));
        });
        return needs;
    }

    /** Its limit, or its part of the device by the head where that is more. */
    private static Optional<MemoryBytes> room(GrantReport grant, LedgerReport ledger) {
        MemoryBytes part = ledger.wanted().budget().dividedBy(ledger.grants().size());
        return grant.target().map(PhaseLimits::max).map(part::max);
    }

    private static Explanation of(
            PlanOutcome outcome,
            NavigableMap<RankInstance, JobTerms> terms,
            NavigableMap<RankInstance, RankNeeds> needs) {
        List<RankReason> ranks = outcome.plan().limits().stream()
                .map(limit -> {
                    JobTerms by = Objects.requireNonNull(terms.get(limit.instance()));
                    return new RankReason(
                            limit.instance(),
                            by.policy().label(),
                            limit.reason().text(),
                            Optional.of(by.priority()),
                            Optional.ofNullable(needs.get(limit.instance())));
                })
                .toList();
        return new Explanation(ranks, heldBack(outcome));
    }

    /** That nothing is to be changed is no plan held back. */
    private static Optional<String> heldBack(PlanOutcome outcome) {
        return outcome instanceof Vetoed vetoed && vetoed.veto().rule() != Rule.STABILITY
                ? Optional.of(vetoed.veto().reason().text())
                : Optional.empty();
    }
}
