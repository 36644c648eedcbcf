package dev.ullage.coordinator.planning;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.RankInstance;
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
        outcomes.forEach(
                outcome -> explanations.put(outcome.device(), of(outcome, terms(outcome, policies, situation))));
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

    private static Explanation of(PlanOutcome outcome, NavigableMap<RankInstance, JobTerms> terms) {
        List<RankReason> ranks = outcome.plan().limits().stream()
                .map(limit -> {
                    JobTerms by = Objects.requireNonNull(terms.get(limit.instance()));
                    return new RankReason(
                            limit.instance(),
                            by.policy().label(),
                            limit.reason().text(),
                            Optional.of(by.priority()));
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
