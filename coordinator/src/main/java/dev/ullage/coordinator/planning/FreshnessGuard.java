package dev.ullage.coordinator.planning;

import java.time.Duration;
import java.util.Optional;

/** No plan rests on a report that is older than {@code staleAfter}: the ledger may have moved on. */
public record FreshnessGuard(Duration staleAfter) implements PlanGuard {

    @Override
    public Optional<Veto> check(Proposal proposal) {
        if (proposal.reportAge().compareTo(staleAfter) <= 0) {
            return Optional.empty();
        }
        return Optional.of(new Veto(
                Rule.FRESHNESS,
                new PlanReason("no plan for %s: its ledger's report is %d ms old, more than %d ms"
                        .formatted(
                                proposal.plan().device(), proposal.reportAge().toMillis(), staleAfter.toMillis()))));
    }
}
