package dev.ullage.cli.modelcheck;

import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.simulation.ClientModel;
import dev.ullage.common.simulation.ClientModel.InForce;
import dev.ullage.common.simulation.ClientModel.Plan;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One process and its socket. What was sent over the socket stays in it until the next connection, so it may arrive
 * never, late, in any order, and as often as one likes.
 */
final class SmallRank {
    final int number;
    boolean isAlive = true;
    boolean isConnected = true;
    ClientModel client = new ClientModel();
    final NavigableMap<Long, Order> orders = new TreeMap<>();
    final NavigableSet<Said> said = new TreeSet<>();

    SmallRank(int number) {
        this.number = number;
    }

    /** A confirmation on its way. */
    record Said(long sequence, long limit) implements Comparable<Said> {
        @Override
        public int compareTo(Said other) {
            int bySequence = Long.compare(sequence, other.sequence);
            return bySequence != 0 ? bySequence : Long.compare(limit, other.limit);
        }
    }

    SmallRank copy() {
        SmallRank copy = new SmallRank(number);
        copy.isAlive = isAlive;
        copy.isConnected = isConnected;
        copy.client = client.copy();
        copy.orders.putAll(orders);
        copy.said.addAll(said);
        return copy;
    }

    long inForce() {
        return client.inForce().map(InForce::limit).map(MemoryBytes::value).orElse(0L);
    }

    /** A safe point with this much held. */
    void settle(long held) {
        Optional<Plan> plan = client.plan(Optional.of(MemoryBytes.of(held)));
        if (plan.isPresent() && client.commit(plan.get()) && isConnected) {
            InForce now = client.inForce().orElseThrow();
            said.add(new Said(now.sequence(), now.limit().value()));
        }
    }

    void disconnect() {
        isConnected = false;
        said.clear();
    }

    void reconnect() {
        isConnected = true;
        orders.clear();
        said.clear();
        client.forgetPending();
    }

    Confirm confirm(Said one) {
        return new Confirm(SmallWorld.instance(number), one.sequence(), MemoryBytes.of(one.limit()));
    }

    void encode(StringBuilder text) {
        text.append(isAlive ? 'a' : 'd')
                .append(isConnected ? 'c' : 'x')
                .append(client.encoded())
                .append('|');
        orders.values().forEach(order -> text.append(order.sequence())
                .append(',')
                .append(order.limits().max().value())
                .append(' '));
        said.forEach(one -> text.append('!').append(one.sequence()).append(',').append(one.limit()));
        text.append('#');
    }
}
