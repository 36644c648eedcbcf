package dev.ullage.coordinator.planning;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.config.JobTerms;
import dev.ullage.config.PolicyName;
import dev.ullage.config.PolicySettings;
import java.util.Optional;

/**
 * By which terms a rank gets its limit: those of the settings, with the policy that the rank itself asks for, as
 * whoever started it wants it for this one run, and before both what an operator set for the job. A name that this
 * coordinator does not know changes nothing. Pure.
 */
final class JobPolicies {
    private JobPolicies() {}

    static JobTerms terms(GrantReport grant, PolicySettings settings, OperatorWishes wishes) {
        JobId job = grant.instance().rank().job();
        JobTerms terms = settings.of(job);
        JobTerms asked = wishes.standing()
                .policy(job)
                .or(grant::policy)
                .or(() -> wishes.policy(grant.instance().rank()))
                .flatMap(PolicyName::find)
                .map(terms::withPolicy)
                .orElse(terms);
        return wishes.standing().priority(job).map(asked::withPriority).orElse(asked);
    }

    /** What the rank was estimated to need, as it says itself or said before its worker's restart. */
    static Optional<PlannedNeeds> planned(GrantReport grant, OperatorWishes wishes) {
        return grant.planned().or(() -> wishes.planned(grant.instance().rank()));
    }
}
