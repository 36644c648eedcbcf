package dev.ullage.common.testing;

import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import java.util.ArrayList;
import java.util.List;

/**
 * A rank as docs/protocol.md wants it, on a network that loses, repeats and reorders everything: an order that was sent
 * may arrive at any time and any number of times; the highest sequence wins; so may a confirmation that was sent.
 */
public final class ModelRank {
    private final RankInstance instance;
    private final List<Order> sentToIt = new ArrayList<>();
    private final List<Confirm> sentByIt = new ArrayList<>();
    private MemoryBytes newest = MemoryBytes.ZERO;
    private long newestSequence;
    private MemoryBytes inForce = MemoryBytes.ZERO;
    private long appliedSequence;

    public ModelRank(RankInstance instance) {
        this.instance = instance;
    }

    public RankInstance instance() {
        return instance;
    }

    public MemoryBytes inForce() {
        return inForce;
    }

    public void send(Order order) {
        sentToIt.add(order);
    }

    /** One of the orders ever sent arrives; {@code pick} says which. */
    public void receive(int pick) {
        if (sentToIt.isEmpty()) {
            return;
        }
        Order order = sentToIt.get(Math.floorMod(pick, sentToIt.size()));
        if (order.sequence() > newestSequence) {
            newestSequence = order.sequence();
            newest = order.limits().max();
        }
    }

    /** A safe point: applies the newest order as far as what it {@code holds} lets it, and confirms. */
    public void reachSafePoint(MemoryBytes holds) {
        if (newestSequence == 0) {
            return;
        }
        inForce = newest.max(holds.min(inForce));
        appliedSequence = newestSequence;
        sentByIt.add(new Confirm(instance, appliedSequence, inForce));
    }

    /** One of the confirmations ever sent; {@code pick} says which. */
    public List<Confirm> confirmation(int pick) {
        return sentByIt.isEmpty() ? List.of() : List.of(sentByIt.get(Math.floorMod(pick, sentByIt.size())));
    }

    public Join hello() {
        return new Join(instance, appliedSequence, inForce);
    }

    /** The most it may come to believe without any further order: in force, or sent and not outdone yet. */
    public MemoryBytes belief() {
        MemoryBytes most = newestSequence > appliedSequence ? inForce.max(newest) : inForce;
        for (Order order : sentToIt) {
            if (order.sequence() > newestSequence) {
                most = most.max(order.limits().max());
            }
        }
        return most;
    }
}
