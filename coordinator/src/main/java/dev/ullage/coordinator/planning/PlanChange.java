package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.DeviceTarget.RankTarget;
import dev.ullage.coordinator.planning.TurnPlanner.TurnRuling;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;

/** Says in one line what makes a plan differ from what was asked of the device before. */
final class PlanChange {
    private PlanChange() {}

    /** @param terms what the plan was worked out from */
    static PlanReason describe(DeviceInput input, TurnRuling ruling, BudgetTerms terms) {
        DeviceTarget before = input.before();
        List<PlannedLimit> limits = ruling.limits();
        Optional<TurnPlan> turns = ruling.turns();
        Share reserve = terms.reserve();
        Map<RankInstance, MemoryBytes> setLimits = input.setLimits();
        List<String> changes = new ArrayList<>();
        NavigableSet<RankInstance> left = new TreeSet<>(before.ranks().keySet());
        for (PlannedLimit limit : limits) {
            left.remove(limit.instance());
            describe(limit, before.rank(limit.instance()), Optional.ofNullable(setLimits.get(limit.instance())))
                    .ifPresent(changes::add);
        }
        left.forEach(instance -> changes.add("left " + instance.rank()));
        if (!reserve.equals(before.reserve())) {
            changes.add("reserve " + before.reserve() + " -> " + reserve);
        }
        if (!turns.equals(before.turns())) {
            changes.add("turns at " + pool(before.turns()) + " -> " + pool(turns));
        }
        if (changes.isEmpty()) {
            changes.add(before.isUnattended() ? "ranks not settled yet" : "the budget changed");
        }
        return new PlanReason(String.join(", ", changes) + "; " + Counts.of(limits.size(), "rank")
                + ", budget " + terms
                + input.room().map(PlanChange::kept).orElse(""));
    }

    private static String kept(KeptRoom room) {
        String reserved = room.reserved().isEmpty() ? "" : "; " + room.reservedText();
        return reserved
                + room.wanted()
                        .map(wanted -> "; lower priorities make room: " + wanted + " wanted")
                        .orElse("");
    }

    private static String pool(Optional<TurnPlan> turns) {
        return turns.map(plan -> "a pool of " + plan.pool()).orElse("none");
    }

    /** @param set the limit that an operator set for the rank */
    private static Optional<String> describe(
            PlannedLimit limit, Optional<RankTarget> before, Optional<MemoryBytes> set) {
        Optional<PhaseLimits> asked = before.flatMap(RankTarget::limits);
        if (asked.isEmpty()) {
            return Optional.of("joined " + limit.instance().rank());
        }
        Share share = before.get().share();
        if (share.equals(limit.share())) {
            boolean isAsSet = set.equals(Optional.of(limit.limits().max()));
            return isAsSet && !set.equals(asked.map(PhaseLimits::max))
                    ? Optional.of("limit of " + limit.instance().rank() + " set to " + set.get())
                    : Optional.empty();
        }
        return Optional.of("share of " + limit.instance().rank() + " " + share + " -> " + limit.share());
    }
}
