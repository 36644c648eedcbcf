package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Puts the limits that an operator set in the place of those of the policies. Pure.
 *
 * <pre>
 *   limit = min( operator's, max( policy's, budget - sum of the other ranks' limits ) )       in every phase
 * </pre>
 *
 * So it takes nothing from other ranks: more than its policy's limit it has only of what nobody has. Smaller limits
 * come first, for they make room; then larger ones, in the order of the ranks.
 */
final class LimitOverrides {
    private LimitOverrides() {}

    /** @param limits what the policies chose, and what is returned, in the same order */
    static List<PlannedLimit> apply(List<PlannedLimit> limits, List<RankRequest> ranks, MemoryBytes budget) {
        NavigableMap<RankInstance, MemoryBytes> set = new TreeMap<>();
        ranks.forEach(rank -> rank.limit().ifPresent(limit -> set.put(rank.instance(), limit)));
        if (set.isEmpty()) {
            return limits;
        }
        List<PlannedLimit> chosen = new ArrayList<>(limits);
        for (boolean isGrowth : new boolean[] {false, true}) {
            for (int i = 0; i < limits.size(); i++) {
                PlannedLimit own = limits.get(i);
                Optional<MemoryBytes> asked = Optional.ofNullable(set.get(own.instance()));
                if (asked.isPresent() && asked.get().isMoreThan(own.limits().max()) == isGrowth) {
                    chosen.set(i, limit(own, asked.get(), others(chosen, i), budget));
                }
            }
        }
        return chosen;
    }

    private static MemoryBytes others(List<PlannedLimit> limits, int index) {
        MemoryBytes sum = MemoryBytes.ZERO;
        for (int i = 0; i < limits.size(); i++) {
            sum = i == index ? sum : sum.plus(limits.get(i).limits().max());
        }
        return sum;
    }

    private static PlannedLimit limit(PlannedLimit own, MemoryBytes asked, MemoryBytes others, MemoryBytes budget) {
        MemoryBytes policy = own.limits().max();
        MemoryBytes most = budget.minusOrZero(others).max(policy);
        MemoryBytes limit = asked.min(most);
        String cut = limit.equals(asked)
                ? ""
                : ", of which %s fits: the other ranks have %s of the budget %s".formatted(limit, others, budget);
        return new PlannedLimit(
                own.instance(),
                PhaseLimits.uniform(limit),
                own.share(),
                new PlanReason(
                        "the operator set %s%s; its policy gives %s (%s)".formatted(asked, cut, policy, own.reason())));
    }
}
