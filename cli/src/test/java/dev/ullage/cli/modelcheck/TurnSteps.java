package dev.ullage.cli.modelcheck;

import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.simulation.ClientModel.InForce;
import dev.ullage.worker.limits.KeeperLogic.Decision;
import dev.ullage.worker.turns.TurnInput;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/** All that can happen next in a {@link TurnWorld}. */
final class TurnSteps {
    private final TurnWorld from;
    private final List<TurnWorld> next = new ArrayList<>();

    private TurnSteps(TurnWorld from) {
        this.from = from;
    }

    static List<TurnWorld> from(TurnWorld world) {
        TurnSteps steps = new TurnSteps(world);
        steps.worker();
        for (int i = 0; i < world.ranks.size(); i++) {
            steps.rank(i, world.ranks.get(i));
        }
        return steps.next;
    }

    private void worker() {
        for (int i = Math.max(from.bounds.firstPlan(), from.wish); i < TurnWorld.PLANS.size(); i++) {
            int number = i;
            TurnWorld.Plan plan = TurnWorld.PLANS.get(i);
            Decision decision = from.keeper().desire(plan.desire(), plan.revision());
            decided(decision, world -> world.wish = decision.desire().isPresent() ? number : world.wish, world -> {
                if (decision.desire().isPresent()) {
                    world.tellDesk(new TurnInput.Planned(TurnWorld.DEVICE, plan.turns()));
                }
            });
        }
        if (from.bound.isMoreThan(from.desk.bound(TurnWorld.DEVICE))) {
            step(TurnWorld::settleBursts);
        }
        if (from.crashesLeft > 0) {
            step(TurnWorld::crash);
        }
    }

    private void rank(int number, TurnRank rank) {
        for (Order order : rank.rank.orders.values()) {
            stepOf(number, one -> one.client().receive(order));
        }
        if (rank.client().needsSettling()) {
            LongStream.of(0, rank.rank.inForce(), rank.most())
                    .distinct()
                    .forEach(held -> stepOf(number, one -> one.settle(held)));
        }
        for (SmallRank.Said said : rank.rank.said) {
            decided(
                    from.keeper()
                            .decide(new Confirm(
                                    TurnWorld.instance(number), said.sequence(), MemoryBytes.of(said.limit()))),
                    world -> {},
                    world -> {});
        }
        if (rank.rank.isConnected) {
            turns(number, rank);
        } else {
            hello(number, rank);
        }
        if (rank.client().phase() == Phase.BACKWARD) {
            stepOf(number, TurnRank::leaveBurst);
        }
    }

    private void turns(int number, TurnRank rank) {
        if (rank.mayAsk() && from.desk.offer(TurnWorld.instance(number)).isPresent()) {
            stepOf(number, TurnRank::ask);
        }
        for (TurnRank.Said said : rank.toDesk) {
            step(world -> {
                world.ranks.get(number).toDesk.remove(said);
                world.tellDesk(
                        said.isAsking()
                                ? new TurnInput.Asked(TurnWorld.instance(number), said.ask())
                                : new TurnInput.Released(TurnWorld.instance(number), said.ask()));
            });
        }
        rank.answer.ifPresent(answer -> stepOf(number, one -> one.hear(answer)));
        if (rank.isWaiting) {
            stepOf(number, TurnRank::waitNoLonger);
        }
    }

    /** It is connected anew, says what it holds, and is sent its newest order. */
    private void hello(int number, TurnRank rank) {
        Optional<InForce> now = rank.client().inForce();
        Join join = new Join(
                TurnWorld.instance(number), now.map(InForce::sequence).orElse(0L), MemoryBytes.of(rank.rank.inForce()));
        step(world -> {
            TurnRank one = world.ranks.get(number);
            one.rank.reconnect();
            world.tellDesk(new TurnInput.Said(
                    TurnWorld.instance(number), TurnWorld.DEVICE, one.client().turn(), one.lastAsk));
            world.perform(world.keeper().decide(join));
            world.keeper()
                    .newestOrder(TurnWorld.instance(number))
                    .ifPresent(order -> one.rank.orders.put(order.sequence(), order));
        });
    }

    private void stepOf(int number, Consumer<TurnRank> change) {
        step(world -> change.accept(world.ranks.get(number)));
    }

    private void step(Consumer<TurnWorld> change) {
        TurnWorld world = from.copy();
        change.accept(world);
        world.dropTheVoid();
        next.add(world);
    }

    /** Persisted, then sent; or persisted, and the worker dies before anything is sent. */
    private void decided(Decision decision, Consumer<TurnWorld> before, Consumer<TurnWorld> after) {
        step(world -> {
            before.accept(world);
            world.perform(decision);
            after.accept(world);
        });
        if (from.crashesLeft > 0 && !decision.events().isEmpty()) {
            step(world -> {
                world.persist(decision);
                world.crash();
            });
        }
    }
}
