package dev.ullage.coordinator.planning;

import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.config.JobTerms;
import dev.ullage.config.PolicyName;
import dev.ullage.config.PolicySettings;
import java.util.Optional;

/**
 * By which terms a rank gets its limit: those of the settings, with the policy that the rank itself asks for, as
 * whoever started it wants it for this one run. A name that this coordinator does not know changes nothing. Pure.
 */
final class JobPolicies {
    private JobPolicies() {}

    static JobTerms terms(GrantReport grant, PolicySettings settings, OperatorWishes wishes) {
        JobTerms terms = settings.of(grant.instance().rank().job());
        return grant.policy()
                .or(() -> wishes.policy(grant.instance().rank()))
                .flatMap(PolicyName::find)
                .map(terms::withPolicy)
                .orElse(terms);
    }

    /** What the rank was estimated to need, as it says itself or said before its worker's restart. */
    static Optional<PlannedNeeds> planned(GrantReport grant, OperatorWishes wishes) {
        return grant.planned().or(() -> wishes.planned(grant.instance().rank()));
    }
}
