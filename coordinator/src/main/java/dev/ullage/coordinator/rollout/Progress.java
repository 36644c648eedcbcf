package dev.ullage.coordinator.rollout;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.coordinator.planning.DevicePlan;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * How much of a plan a ledger's report shows. Ranks that have left since the plan was made count as done.
 *
 * @param state {@code SHRINKING}, {@code GROWING} or {@code SETTLED}
 * @param waitingFor one entry for each rank that is not where the plan wants it
 */
record Progress(RolloutState state, List<String> waitingFor) {

    static Progress of(DevicePlan plan, LedgerReport ledger) {
        NavigableMap<RankInstance, GrantReport> grants = new TreeMap<>();
        ledger.grants().forEach(grant -> grants.put(grant.instance(), grant));
        List<String> shrinking = new ArrayList<>();
        List<String> growing = new ArrayList<>();
        for (PlannedLimit limit : plan.limits()) {
            Optional.ofNullable(grants.get(limit.instance()))
                    .filter(grant -> !isDone(limit, grant))
                    .ifPresent(grant -> (isAbove(limit, grant) ? shrinking : growing).add(describe(limit, grant)));
        }
        if (!ledger.inForce().reserve().equals(plan.reserve())) {
            shrinking.add("reserve " + ledger.inForce().reserve() + " in force, wanted " + plan.reserve());
        }
        Optional<MemoryBytes> pool = plan.turns().map(TurnPlan::pool);
        if (!ledger.inForce().pool().equals(pool)) {
            shrinking.add("pool " + shown(ledger.inForce().pool()) + " in force, wanted " + shown(pool));
        }
        List<String> waitingFor = new ArrayList<>(shrinking);
        waitingFor.addAll(growing);
        RolloutState state = !shrinking.isEmpty()
                ? RolloutState.SHRINKING
                : growing.isEmpty() ? RolloutState.SETTLED : RolloutState.GROWING;
        return new Progress(state, List.copyOf(waitingFor));
    }

    private static String shown(Optional<MemoryBytes> pool) {
        return pool.map(MemoryBytes::toString).orElse("none");
    }

    private static boolean isDone(PlannedLimit limit, GrantReport grant) {
        return grant.target().equals(Optional.of(limit.limits()))
                && grant.share().equals(limit.share())
                && grant.isSettled();
    }

    private static boolean isAbove(PlannedLimit limit, GrantReport grant) {
        return grant.ceiling().isMoreThan(limit.limits().max());
    }

    private static String describe(PlannedLimit limit, GrantReport grant) {
        MemoryBytes wanted = limit.limits().max();
        return "rank %s may hold %s, wanted %s".formatted(limit.instance(), grant.ceiling(), wanted);
    }
}
