package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.SampleState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A rule that holds a plan back. Pure; a veto names the rule and its numbers. */
@FunctionalInterface
public interface PlanGuard {
    Optional<Veto> check(Proposal proposal);

    /**
     * A plan before it is carried out.
     *
     * @param before what was last asked of the device
     * @param terms what the plan was worked out from
     * @param reportAge age of the ledger's report it rests on
     * @param sample what its worker says of the readings; empty when it has not said
     * @param unseen the ranks that no sample tells of although the policies of their jobs look at what ranks do
     * @param setLimits the limits that an operator set; looked up, never iterated
     */
    record Proposal(
            DevicePlan plan,
            DeviceTarget before,
            BudgetTerms terms,
            Duration reportAge,
            Optional<SampleState> sample,
            List<RankInstance> unseen,
            Map<RankInstance, MemoryBytes> setLimits) {
        public Proposal {
            unseen = List.copyOf(unseen);
        }
    }

    /** Why a plan is not carried out. */
    record Veto(Rule rule, PlanReason reason) {}

    /** The rules there are. */
    enum Rule {
        FRESHNESS,
        MEASURED,
        MINIMUM,
        SAMPLE,
        /** Nothing worth a change: the usual outcome, and no cause for concern. */
        STABILITY
    }
}
