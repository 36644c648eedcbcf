package dev.ullage.coordinator;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.protocol.ToOperator.Explanation;
import dev.ullage.config.PolicySettings;
import dev.ullage.coordinator.planning.Explanations;
import dev.ullage.coordinator.planning.KeptPlans;
import dev.ullage.coordinator.planning.LimitPlanner;
import dev.ullage.coordinator.planning.LimitPlanner.Decided;
import dev.ullage.coordinator.planning.Situation;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The part of {@link CoordinatorLogic} that remembers what planning last came to: what is not new is not worked out
 * again, and it is put into words only when somebody asks.
 */
final class LastPlans {
    private final LimitPlanner planner;
    private final PolicySettings policies;
    private final KeptPlans kept = new KeptPlans();

    private List<Decided> decided = List.of();
    private Optional<Situation> situation = Optional.empty();
    private Optional<NavigableMap<DeviceId, Explanation>> explanations = Optional.empty();

    LastPlans(LimitPlanner planner, PolicySettings policies) {
        this.planner = planner;
        this.policies = policies;
    }

    List<Decided> decide(Situation now) {
        decided = planner.decide(now, kept);
        situation = Optional.of(now);
        explanations = Optional.empty();
        return decided;
    }

    /** Why the ranks of each device that was planned should have what limits. */
    NavigableMap<DeviceId, Explanation> explanations() {
        NavigableMap<DeviceId, Explanation> known = explanations.orElseGet(() -> situation
                .map(then ->
                        Explanations.of(decided.stream().map(Decided::outcome).toList(), policies, then))
                .orElseGet(() -> Collections.unmodifiableNavigableMap(new TreeMap<>())));
        explanations = Optional.of(known);
        return known;
    }

    /** Another coordinator plans: nothing that was decided here counts. */
    void clear() {
        decided = List.of();
        situation = Optional.empty();
        explanations = Optional.empty();
    }
}
