package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnReport;
import java.util.Collections;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What was last asked of a device: by the plan that is on its way, or else by whatever plan its ledger has worked on.
 *
 * @param ranks in order
 * @param turns who takes turns; by the ledger, what its worker knows of it
 * @param isUnattended whether some rank is not where its ledger wants it while no plan is on its way that would show so
 */
public record DeviceTarget(
        Share reserve, NavigableMap<RankInstance, RankTarget> ranks, Optional<TurnPlan> turns, boolean isUnattended) {

    public DeviceTarget {
        ranks = Collections.unmodifiableNavigableMap(new TreeMap<>(ranks));
    }

    /** @param limits empty before the first order */
    public record RankTarget(Optional<PhaseLimits> limits, Share share) {}

    public static DeviceTarget of(DevicePlan plan) {
        NavigableMap<RankInstance, RankTarget> ranks = new TreeMap<>();
        plan.limits()
                .forEach(limit ->
                        ranks.put(limit.instance(), new RankTarget(Optional.of(limit.limits()), limit.share())));
        return new DeviceTarget(plan.reserve(), ranks, plan.turns(), false);
    }

    public static DeviceTarget of(LedgerReport ledger) {
        NavigableMap<RankInstance, RankTarget> ranks = new TreeMap<>();
        ledger.grants().forEach(grant -> ranks.put(grant.instance(), new RankTarget(grant.target(), grant.share())));
        boolean isSettled = ledger.grants().stream().allMatch(GrantReport::isSettled);
        boolean isPoolAsKnown = ledger.wanted().pool().equals(turns(ledger).map(TurnPlan::pool));
        return new DeviceTarget(ledger.wanted().reserve(), ranks, turns(ledger), !isSettled || !isPoolAsKnown);
    }

    private static Optional<TurnPlan> turns(LedgerReport ledger) {
        return ledger.turns().flatMap(TurnReport::plan);
    }

    boolean takesTurns(RankInstance instance) {
        return turns.flatMap(plan -> plan.of(instance)).isPresent();
    }

    public Optional<RankTarget> rank(RankInstance instance) {
        return Optional.ofNullable(ranks.get(instance));
    }

    /** All that the ranks would be promised if every one had confirmed its target. */
    public MemoryBytes promised() {
        MemoryBytes sum = MemoryBytes.ZERO;
        for (RankTarget target : ranks.values()) {
            sum = sum.plus(target.limits().map(PhaseLimits::max).orElse(MemoryBytes.ZERO));
        }
        return sum;
    }
}
