package dev.ullage.coordinator.planning;

import dev.ullage.common.model.RankInstance;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PolicyName;
import dev.ullage.config.PolicySettings;
import dev.ullage.coordinator.planning.Shares.RankShare;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Gives every rank its limit by the policy of its job. Ranks of one device that follow different policies share its
 * budget by the head: what one policy leaves is not given to the ranks of another, which would make the limits of one
 * job depend on the settings of another.
 */
public final class PolicyByJob implements LimitPolicy {
    private final Map<PolicyName, LimitPolicy> policies = new EnumMap<>(PolicyName.class);

    public PolicyByJob(LimitSettings limits) {
        for (PolicyName name : PolicyName.values()) {
            policies.put(name, policy(name, limits));
        }
    }

    private static LimitPolicy policy(PolicyName name, LimitSettings limits) {
        PolicySettings settings = limits.policies();
        return switch (name) {
            case RANK_SHARE -> new RankSharePolicy();
            case WORLD_SHARE -> new WorldSharePolicy();
            case FIXED -> new FixedPolicy();
            case GROWTH -> new GrowthPolicy();
            case PRIORITY_POOL -> new PriorityPoolPolicy(settings.priorityPool());
            case HYBRID -> new HybridPolicy(settings.hybrid());
            case OBSERVED -> new ObservedPolicy(settings.observed(), limits.minimum());
            case PLANNED -> new PlannedPolicy(settings.planned(), limits.minimum());
        };
    }

    @Override
    public Shares share(PlanningInput input) {
        NavigableMap<RankInstance, RankShare> shares = new TreeMap<>(Comparator.naturalOrder());
        Map<PolicyName, List<RankRequest>> followers = new EnumMap<>(PolicyName.class);
        for (RankRequest rank : input.ranks()) {
            followers
                    .computeIfAbsent(rank.terms().policy(), name -> new ArrayList<>())
                    .add(rank);
        }
        followers.forEach((name, ranks) -> {
            PlanningInput part =
                    new PlanningInput(input.device(), input.terms(), ranks, input.ranksOnDevice(), input.kept());
            Objects.requireNonNull(policies.get(name))
                    .share(part)
                    .ranks()
                    .forEach(share -> shares.put(share.rank().instance(), share));
        });
        return new Shares(List.copyOf(shares.values()));
    }
}
