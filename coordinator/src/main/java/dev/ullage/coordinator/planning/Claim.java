package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.Shares.RankShare;
import dev.ullage.coordinator.planning.WaterFilling.Request;
import java.util.ArrayList;
import java.util.List;

/**
 * What a policy would give one rank if the device had room for everyone, and why.
 *
 * @param weight 1 or more; decides only when there is not
 */
record Claim(RankRequest rank, MemoryBytes amount, int weight, String rule) {

    /** Of ranks that are all worth the same. */
    Claim(RankRequest rank, MemoryBytes amount, String rule) {
        this(rank, amount, 1, rule);
    }

    /** Gives every rank what it claims, or what weighted max-min fairness leaves it of the pool. */
    static List<RankShare> settle(List<Claim> claims, PlanningInput input) {
        MemoryBytes pool = input.pool();
        List<MemoryBytes> parts = WaterFilling.fill(
                claims.stream()
                        .map(claim -> new Request(claim.amount(), claim.weight()))
                        .toList(),
                pool);
        List<RankShare> shares = new ArrayList<>();
        for (int i = 0; i < claims.size(); i++) {
            Claim claim = claims.get(i);
            String less = claim.amount().isMoreThan(parts.get(i))
                    ? ", but %d of %s share %s of the budget: %s is left for it"
                            .formatted(claims.size(), input.rankCount(), pool, parts.get(i))
                    : "";
            shares.add(RankShare.fair(claim.rank(), parts.get(i), claim.rule() + less));
        }
        return shares;
    }
}
