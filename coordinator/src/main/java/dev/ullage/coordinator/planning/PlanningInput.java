package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import java.math.BigInteger;
import java.util.List;

/**
 * What a policy may look at: one device, and those of its ranks that the policy is to give limits.
 *
 * @param terms with the reserve that is desired, not the one in force
 * @param ranks ordered
 * @param ranksOnDevice with those that another policy gives limits, without those for whom room is kept
 * @param kept what of the budget is kept for others
 */
public record PlanningInput(
        DeviceId device, BudgetTerms terms, List<RankRequest> ranks, int ranksOnDevice, MemoryBytes kept) {
    public PlanningInput {
        ranks = List.copyOf(ranks);
        if (ranksOnDevice < ranks.size()) {
            throw new IllegalArgumentException(
                    Counts.of(ranks.size(), "rank") + " of " + ranksOnDevice + " on " + device);
        }
    }

    /** One policy for all ranks of the device. */
    public PlanningInput(DeviceId device, BudgetTerms terms, List<RankRequest> ranks) {
        this(device, terms, ranks, ranks.size(), MemoryBytes.ZERO);
    }

    /** What all {@link #ranksOnDevice()} together may have. */
    public MemoryBytes budget() {
        return terms.budget().minusOrZero(kept);
    }

    /** The limits of {@link #ranks()} together may not be more: their part of the budget, by the head. */
    public MemoryBytes pool() {
        if (ranks.isEmpty()) {
            return MemoryBytes.ZERO;
        }
        return MemoryBytes.of(BigInteger.valueOf(budget().value())
                .multiply(BigInteger.valueOf(ranks.size()))
                .divide(BigInteger.valueOf(ranksOnDevice))
                .longValueExact());
    }

    /** What every rank can have when all have the same; there is at least one. */
    public MemoryBytes equalPart() {
        return budget().dividedBy(ranksOnDevice);
    }

    /** For explanations: {@code 3 ranks}. */
    String rankCount() {
        return Counts.of(ranksOnDevice, "rank");
    }
}
