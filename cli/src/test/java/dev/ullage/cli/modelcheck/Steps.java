package dev.ullage.cli.modelcheck;

import dev.ullage.cli.modelcheck.SmallRank.Said;
import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerCommand.Acknowledge;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.LedgerCommand.Leave;
import dev.ullage.common.ledger.LedgerCommand.Measure;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.simulation.ClientModel.InForce;
import dev.ullage.worker.limits.KeeperLogic.Decision;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** All that can happen next in a {@link SmallWorld}. */
final class Steps {
    private final SmallWorld from;
    private final List<SmallWorld> next = new ArrayList<>();

    private Steps(SmallWorld from) {
        this.from = from;
    }

    static List<SmallWorld> from(SmallWorld world) {
        Steps steps = new Steps(world);
        steps.coordinators();
        steps.device();
        for (SmallRank rank : world.ranks) {
            if (rank.isAlive) {
                steps.rank(rank);
            } else if (world.ledger.grant(SmallWorld.instance(rank.number)).isPresent()) {
                steps.decided(world.decide(new Leave(SmallWorld.instance(rank.number))));
            }
        }
        return steps.next;
    }

    private void coordinators() {
        for (int i = from.bounds.firstPlan(); i < SmallWorld.PLANS.size(); i++) {
            int number = i;
            Decision decision = from.decide(SmallWorld.PLANS.get(i));
            decided(decision, world -> world.wish = decision.desire().isPresent() ? number : world.wish);
        }
        decided(from.decide(new Acknowledge(SmallWorld.LAST.token())));
    }

    private void device() {
        decided(from.decide(new Measure(MemoryBytes.of(SmallWorld.UNITS), MemoryBytes.of(from.foreign))));
        if (from.foreignChangesLeft > 0) {
            step(world -> {
                world.foreignChangesLeft--;
                world.foreign = 1 - world.foreign;
            });
        }
        if (from.crashesLeft > 0) {
            step(SmallWorld::crash);
        }
    }

    private void rank(SmallRank rank) {
        for (Order order : rank.orders.values()) {
            stepOf(rank, one -> one.client.receive(order));
        }
        if (rank.client.needsSettling()) {
            stepOf(rank, one -> one.settle(0));
            stepOf(rank, one -> one.settle(one.inForce()));
        }
        for (Said one : rank.said) {
            decided(from.decide(rank.confirm(one)));
        }
        if (!rank.isConnected) {
            Optional<InForce> now = rank.client.inForce();
            LedgerCommand join = new Join(
                    SmallWorld.instance(rank.number),
                    now.map(InForce::sequence).orElse(0L),
                    MemoryBytes.of(rank.inForce()));
            decided(from.decide(join), world -> hello(world, rank.number));
        }
        if (from.deathsLeft > 0 && rank.number == SmallWorld.RANKS - 1) {
            step(world -> {
                world.deathsLeft--;
                SmallRank dead = world.ranks.get(rank.number);
                dead.reconnect();
                dead.isAlive = false;
            });
        }
    }

    /** It is connected anew, and is sent its newest order. */
    private static void hello(SmallWorld world, int number) {
        SmallRank rank = world.ranks.get(number);
        rank.reconnect();
        world.keeper()
                .newestOrder(SmallWorld.instance(number))
                .ifPresent(order -> rank.orders.put(order.sequence(), order));
    }

    private void stepOf(SmallRank rank, Consumer<SmallRank> change) {
        step(world -> change.accept(world.ranks.get(rank.number)));
    }

    private void step(Consumer<SmallWorld> change) {
        SmallWorld world = from.copy();
        change.accept(world);
        next.add(world);
    }

    private void decided(Decision decision) {
        decided(decision, world -> {});
    }

    /** Persisted, then sent; or persisted, and the worker dies before anything is sent. */
    private void decided(Decision decision, Consumer<SmallWorld> soft) {
        step(world -> {
            world.apply(decision);
            soft.accept(world);
            world.send(decision);
        });
        if (from.crashesLeft > 0 && !decision.events().isEmpty()) {
            step(world -> {
                world.apply(decision);
                world.crash();
            });
        }
    }
}
