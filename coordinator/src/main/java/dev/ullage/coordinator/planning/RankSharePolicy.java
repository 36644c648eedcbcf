package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
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
        int ranks = input.ranks().size();
        if (ranks == 0) {
            return new Shares(List.of());
        }
        BudgetTerms terms = input.terms();
        MemoryBytes fair =
                terms.allocatable().times(terms.reserve().complement()).dividedBy(ranks);
        MemoryBytes limit = fair.min(terms.budget().dividedBy(ranks));
        String reason = explain(terms, ranks, fair, limit);
        return new Shares(
                input.ranks().stream().map(rank -> share(rank, limit, reason)).toList());
    }

    private static RankShare share(RankRequest rank, MemoryBytes limit, String reason) {
        String operator = rank.share().equals(Share.ALL) ? "" : ", of which the operator left it " + rank.share();
        return new RankShare(rank, limit.times(rank.share()), new PlanReason(reason + operator));
    }

    private static String explain(BudgetTerms terms, int ranks, MemoryBytes fair, MemoryBytes limit) {
        String rule = "%s less reserve %s over %d rank%s is %s"
                .formatted(terms.allocatable(), terms.reserve(), ranks, ranks == 1 ? "" : "s", fair);
        return limit.equals(fair) ? rule : rule + ", foreign memory of %s leaves %s".formatted(terms.foreign(), limit);
    }
}
