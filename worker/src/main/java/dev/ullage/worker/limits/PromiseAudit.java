package dev.ullage.worker.limits;

import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.ReservationId;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Checks the one invariant without the ledger's sums: it sees what was sent to the ranks, what they said, and what was
 * reserved for jobs, and adds up for each job the highest limits its ranks may believe, or what is kept for it where
 * that is more. Not thread safe; owned by the device's keeper.
 */
final class PromiseAudit {
    private final Map<RankInstance, Belief> beliefs = new TreeMap<>();
    private final Map<ReservationId, MemoryBytes> kept = new TreeMap<>();
    private MemoryBytes highest = MemoryBytes.ZERO;
    private long overCommits;

    /** What a rank said last, and the orders it may have applied since. */
    private static final class Belief {
        private MemoryBytes said = MemoryBytes.ZERO;
        private final NavigableMap<Long, MemoryBytes> sent = new TreeMap<>();

        MemoryBytes highest() {
            return sent.values().stream().reduce(said, MemoryBytes::max);
        }
    }

    void sent(Order order, MemoryBytes budget) {
        belief(order.instance()).sent.put(order.sequence(), order.limits().max());
        check(budget);
    }

    /** The rank says that nothing above {@code inForce} holds and that {@code sequence} is applied. */
    void said(RankInstance instance, long sequence, MemoryBytes inForce, MemoryBytes budget) {
        Belief belief = belief(instance);
        belief.said = inForce;
        belief.sent.headMap(sequence, true).clear();
        check(budget);
    }

    /**
     * What the ledger file says after a restart: the rank may still believe {@code ceiling}, until it says otherwise.
     */
    void replayed(RankInstance instance, long sequence, MemoryBytes ceiling, MemoryBytes budget) {
        belief(instance).sent.put(sequence, ceiling);
        check(budget);
    }

    void left(RankInstance instance) {
        beliefs.remove(instance);
    }

    void reserved(ReservationId id, MemoryBytes amount, MemoryBytes budget) {
        kept.put(id, amount);
        check(budget);
    }

    void released(ReservationId id) {
        kept.remove(id);
    }

    private Belief belief(RankInstance instance) {
        return beliefs.computeIfAbsent(instance, key -> new Belief());
    }

    private void check(MemoryBytes budget) {
        Map<JobId, MemoryBytes> believed = new TreeMap<>();
        beliefs.forEach(
                (instance, belief) -> believed.merge(instance.rank().job(), belief.highest(), MemoryBytes::plus));
        Map<JobId, MemoryBytes> reserved = new TreeMap<>();
        kept.forEach((id, amount) -> reserved.merge(id.job(), amount, MemoryBytes::plus));
        Map<JobId, MemoryBytes> promised = new TreeMap<>(believed);
        reserved.forEach((job, amount) -> promised.merge(job, amount, MemoryBytes::max));
        MemoryBytes sum = promised.values().stream().reduce(MemoryBytes.ZERO, MemoryBytes::plus);
        highest = highest.max(sum);
        if (sum.isMoreThan(budget)) {
            overCommits++;
        }
    }

    MemoryBytes highest() {
        return highest;
    }

    long overCommits() {
        return overCommits;
    }
}
