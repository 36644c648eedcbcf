package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import java.util.List;

/**
 * What a policy may look at: one device.
 *
 * @param terms with the reserve that is desired, not the one in force
 * @param ranks every rank process on the device, ordered
 */
public record PlanningInput(DeviceId device, BudgetTerms terms, List<RankRequest> ranks) {
    public PlanningInput {
        ranks = List.copyOf(ranks);
    }
}
