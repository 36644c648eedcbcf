package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.Shares.RankShare;
import java.util.List;

/**
 * Every rank on a device gets the same part of it: {@code limit = min(floor(floor(allocatable x (1 - reserve)) / n),
 * floor(budget / n)) x operator's share}, with n the rank processes on the device. What an operator takes from one rank
 * is not given to the others.
 */
public final class RankSharePolicy implements LimitPolicy {

    @Override
    public Shares share(PlanningInput input) {
        if (input.ranks().isEmpty()) {
            return new Shares(List.of());
        }
        BudgetTerms terms = input.terms();
        MemoryBytes fair =
                terms.allocatable().times(terms.reserve().complement()).dividedBy(input.ranksOnDevice());
        MemoryBytes limit = fair.min(input.equalPart());
        String reason = explain(input, fair, limit);
        return new Shares(input.ranks().stream()
                .map(rank -> RankShare.fair(rank, limit, reason))
                .toList());
    }

    private static String explain(PlanningInput input, MemoryBytes fair, MemoryBytes limit) {
        BudgetTerms terms = input.terms();
        String rule =
                terms.allocatable() + " less reserve " + terms.reserve() + " over " + input.rankCount() + " is " + fair;
        if (limit.equals(fair)) {
            return rule;
        }
        String kept = input.kept().isZero() ? "" : " and " + input.kept() + " kept for jobs";
        return rule + ", foreign memory of " + terms.foreign() + kept + " leaves " + limit;
    }
}
