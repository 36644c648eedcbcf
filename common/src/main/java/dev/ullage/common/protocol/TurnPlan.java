package dev.ullage.common.protocol;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankInstance;
import java.util.List;
import java.util.Optional;

/**
 * Which ranks of a device take turns at a burst (docs/turns.md). The ledger keeps the pool free of every limit; who may
 * use it is decided on the worker, each time.
 *
 * @param pool what is kept for bursts: the most that the ranks of any one job need together
 * @param ranks those that take turns; another one never gets a burst
 */
public record TurnPlan(MemoryBytes pool, List<RankTurn> ranks) {
    public TurnPlan {
        ranks = List.copyOf(ranks);
    }

    /**
     * One rank's part.
     *
     * @param phases those it enters with a turn only; it keeps its turn from one to the next
     * @param burst what a turn adds to its limit in these phases
     */
    public record RankTurn(RankInstance instance, List<Phase> phases, MemoryBytes burst) {
        public RankTurn {
            phases = List.copyOf(phases);
        }
    }

    public Optional<RankTurn> of(RankInstance instance) {
        return ranks.stream().filter(rank -> rank.instance().equals(instance)).findFirst();
    }
}
