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
        String rule = "%s less reserve %s over %s is %s"
                .formatted(terms.allocatable(), terms.reserve(), input.rankCount(), fair);
        String kept = input.kept().isZero() ? "" : " and " + input.kept() + " kept for jobs";
        String rest = ", foreign memory of %s%s leaves %s".formatted(terms.foreign(), kept, limit);
        return limit.equals(fair) ? rule : rule + rest;
    }
}
