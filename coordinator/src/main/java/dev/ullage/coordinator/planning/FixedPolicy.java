package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.config.FixedLimit;

/**
 * The limit the settings name, an amount or a share of the device's allocatable memory. When the limits of all ranks do
 * not fit the budget, the larger ones are cut to the same size.
 */
public final class FixedPolicy implements LimitPolicy {

    @Override
    public Shares share(PlanningInput input) {
        return new Shares(Claim.settle(
                input.ranks().stream().map(rank -> claim(rank, input)).toList(), input));
    }

    private static Claim claim(RankRequest rank, PlanningInput input) {
        FixedLimit limit = rank.terms().limit();
        MemoryBytes allocatable = input.terms().allocatable();
        String rule = limit.amount().isPresent()
                ? "fixed at " + limit
                : "fixed at %s of %s is %s".formatted(limit, allocatable, limit.on(allocatable));
        return new Claim(rank, limit.on(allocatable), rule);
    }
}
