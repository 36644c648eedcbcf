package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.MemoryBytes;
import java.util.OptionalInt;

/**
 * {@code limit = floor(floor(allocatable x (1 - reserve)) / world size)}: right when every rank of the job runs on this
 * device. A rank whose world size is not known gets an equal part of the device, and its reason says so.
 */
public final class WorldSharePolicy implements LimitPolicy {

    @Override
    public Shares share(PlanningInput input) {
        return new Shares(Claim.settle(
                input.ranks().stream().map(rank -> claim(rank, input)).toList(), input));
    }

    private static Claim claim(RankRequest rank, PlanningInput input) {
        BudgetTerms terms = input.terms();
        OptionalInt world = rank.observed().worldSize();
        if (world.isEmpty() || world.getAsInt() < 1) {
            return new Claim(
                    rank,
                    input.equalPart(),
                    "its launcher does not say the world size: %s over %s is %s"
                            .formatted(input.budget(), input.rankCount(), input.equalPart()));
        }
        MemoryBytes part =
                terms.allocatable().times(terms.reserve().complement()).dividedBy(world.getAsInt());
        return new Claim(
                rank,
                part,
                "%s less reserve %s over a world of %d is %s"
                        .formatted(terms.allocatable(), terms.reserve(), world.getAsInt(), part));
    }
}
