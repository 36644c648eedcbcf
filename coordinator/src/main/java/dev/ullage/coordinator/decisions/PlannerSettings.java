package dev.ullage.coordinator.decisions;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import dev.ullage.config.JobTerms;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PhaseShares;
import dev.ullage.config.PolicySettings;
import dev.ullage.coordinator.planning.LimitPlanner;
import java.time.Duration;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The settings that a plan follows from beside its input: all that {@link LimitPlanner} reads. The terms of single jobs
 * are part of the input, and so is the reserve.
 *
 * @param staleAfter age from which a ledger's report is no base for a plan
 * @param planned empty in a record from before that policy, which no rank of the record follows
 */
public record PlannerSettings(
        Duration staleAfter,
        MemoryBytes minimum,
        Share deadBand,
        PhaseShares phases,
        PolicySettings.PriorityPool priorityPool,
        PolicySettings.Hybrid hybrid,
        PolicySettings.Observed observed,
        Optional<PolicySettings.Planned> planned) {

    public static PlannerSettings of(Duration staleAfter, LimitSettings limits) {
        PolicySettings policies = limits.policies();
        return new PlannerSettings(
                staleAfter,
                limits.minimum(),
                limits.deadBand(),
                limits.phases(),
                policies.priorityPool(),
                policies.hybrid(),
                policies.observed(),
                Optional.of(policies.planned()));
    }

    /** A planner that decides as the one did whose settings these were. */
    LimitPlanner planner() {
        PolicySettings policies = new PolicySettings(
                JobTerms.defaults(),
                new TreeMap<>(),
                priorityPool,
                hybrid,
                observed,
                planned.orElse(PolicySettings.Planned.DEFAULTS));
        return LimitPlanner.of(staleAfter, new LimitSettings(Share.NONE, minimum, deadBand, phases, policies));
    }
}
