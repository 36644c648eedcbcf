package dev.ullage.common.protocol;

import dev.ullage.common.model.MemoryBytes;
import java.util.Optional;

/**
 * What a device's keeper has counted since it started.
 *
 * @param ordersSent limits sent to ranks, without repetitions
 * @param ordersRepeated limits sent again because no confirmation had come
 * @param confirmations limits confirmed by ranks
 * @param refusals growth and confirmations refused
 * @param highestPromised the highest sum of what the ranks could believe, and of what was kept for jobs beyond that, at
 *     any moment
 * @param overCommits moments at which that sum was above the budget in force, found by an audit that does not use the
 *     ledger; must be 0
 * @param work what its ledger has done, in detail; empty: its worker is older and does not say
 */
public record KeeperCounts(
        long ordersSent,
        long ordersRepeated,
        long confirmations,
        long refusals,
        MemoryBytes highestPromised,
        long overCommits,
        Optional<LedgerWork> work) {
    public static final KeeperCounts NONE = new KeeperCounts(0, 0, 0, 0, MemoryBytes.ZERO, 0);

    /** Of a worker that does not say what its ledger has done. */
    public KeeperCounts(
            long ordersSent,
            long ordersRepeated,
            long confirmations,
            long refusals,
            MemoryBytes highestPromised,
            long overCommits) {
        this(ordersSent, ordersRepeated, confirmations, refusals, highestPromised, overCommits, Optional.empty());
    }
}
