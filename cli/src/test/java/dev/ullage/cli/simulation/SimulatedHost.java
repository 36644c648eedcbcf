package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.simulation.Dice;
import dev.ullage.coordinator.CoordinatorEffect;
import dev.ullage.coordinator.CoordinatorEffect.Desire;
import dev.ullage.coordinator.CoordinatorEffect.Learn;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A host with its worker: its process, which may die anywhere, what it owns, and the sockets of its ranks. */
final class SimulatedHost {
    private static final long TICK_MILLIS = 250;
    private static final int TICKS_PER_SECOND = 4;
    private static final long WAIT_FOR_HELLO_MILLIS = 5;

    final int number;
    final NodeId node;
    final List<SimulatedDevice> devices;
    private final World world;
    private final Dice dice;
    private final Map<RankInstance, Integer> connections = new TreeMap<>();
    private Optional<CoordinatorToken> highestToken = Optional.empty();
    private @Nullable CrashPoint armed;
    private SimulatedTurns turns;
    private boolean alive;
    private int incarnation;
    int follows;

    /** Where a worker may die while it carries out a decision. */
    enum CrashPoint {
        BEFORE_SYNC,
        AFTER_SYNC,
        BETWEEN_SENDS
    }

    private static final class Died extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Died() {
            super(null, null, false, false);
        }
    }

    SimulatedHost(World world, Dice dice, int number, List<SimulatedDevice> devices) {
        this.world = world;
        this.dice = dice;
        this.number = number;
        this.node = new NodeId("host-" + number);
        this.devices = devices;
        this.turns = new SimulatedTurns(world, this);
    }

    boolean isAlive() {
        return alive;
    }

    int incarnation() {
        return incarnation;
    }

    void start() {
        if (alive) {
            return;
        }
        alive = true;
        incarnation++;
        highestToken = Optional.empty();
        turns = new SimulatedTurns(world, this);
        world.note(What.START, number, incarnation, () -> node + " starts, incarnation " + incarnation);
        for (SimulatedDevice device : devices) {
            List<LedgerEvent> past = device.disk.read();
            if (past.isEmpty()) {
                LedgerEvent first = new LedgerEvent.Opened(
                        device.info.id(),
                        new BudgetTerms(device.allocatable(), world.limits().reserve(), MemoryBytes.ZERO));
                past = List.of(first);
                if (world.rules().persists()) {
                    device.disk.append(past);
                    device.disk.sync();
                }
            }
            DeviceLedger replayed = replay(past);
            turns.replayed(device, replayed);
            device.keeper = new SimulatedKeeper(world, this, device, replayed);
        }
        for (SimulatedKeeper keeper : keepers()) {
            keeper.settleBursts();
        }
        tickLater(incarnation, 0);
    }

    private static DeviceLedger replay(List<LedgerEvent> past) {
        DeviceLedger ledger = DeviceLedger.open(past.get(0));
        for (LedgerEvent event : past.subList(1, past.size())) {
            ledger = ledger.apply(event);
        }
        return ledger;
    }

    /** The process is gone; what it had not synced may be lost. It is started again after a while. */
    void crash() {
        if (!alive) {
            return;
        }
        alive = false;
        armed = null;
        connections.clear();
        for (SimulatedDevice device : devices) {
            device.disk.crash(dice);
            List<LedgerEvent> past = device.disk.read();
            device.synced(past);
            device.durable = past.isEmpty() ? null : replay(past);
            device.keeper = null;
        }
        world.note(What.CRASH, number, incarnation, () -> node + " crashes");
        world.time().after(dice.between(50, 1500), this::start);
    }

    void loseDisk() {
        crash();
        if (!alive) {
            for (SimulatedDevice device : devices) {
                device.wiped();
                device.durable = null;
                world.ranksOn(device).forEach(SimulatedRank::excuse);
                world.ranksOn(device).forEach(SimulatedRank::excuseTurn);
            }
        }
    }

    void dieAt(CrashPoint point) {
        armed = point;
    }

    void disarm() {
        armed = null;
    }

    void mayDieAt(CrashPoint point) {
        if (armed == point) {
            throw new Died();
        }
    }

    /** Something reaches the process; nothing does once it has died. */
    private void run(int ofIncarnation, Runnable event) {
        if (!alive || incarnation != ofIncarnation) {
            return;
        }
        try {
            event.run();
        } catch (Died e) {
            crash();
        }
    }

    private void tickLater(int ofIncarnation, int ticks) {
        world.time()
                .after(
                        TICK_MILLIS,
                        () -> run(ofIncarnation, () -> {
                            tickLater(ofIncarnation, ticks + 1);
                            if (ticks % TICKS_PER_SECOND == 0) {
                                if (world.isDuel() && dice.chance(500)) {
                                    follows = (follows + 1) % World.COORDINATORS;
                                }
                                announce();
                                keepers().forEach(SimulatedKeeper::onMeasured);
                            }
                            if (ticks % 2 == 1) {
                                removeGone();
                            }
                            keepers().forEach(SimulatedKeeper::onTick);
                        }));
    }

    private List<SimulatedKeeper> keepers() {
        return devices.stream()
                .flatMap(device -> Optional.ofNullable(device.keeper).stream())
                .toList();
    }

    private void announce() {
        toFollowed(new WorkerAnnounced(
                node,
                Protocol.VERSION,
                highestToken,
                devices.stream().map(device -> device.info).toList(),
                Stubs.WORKER));
    }

    private void removeGone() {
        for (SimulatedKeeper keeper : keepers()) {
            keeper.ledger().grants().stream()
                    .map(grant -> grant.instance())
                    .filter(instance -> !world.isProcessAlive(instance))
                    .toList()
                    .forEach(gone -> {
                        connections.remove(gone);
                        turns.left(gone);
                        keeper.onLeft(gone);
                    });
        }
    }

    // ---- coordinators

    /** To whoever this worker's cluster says coordinates. */
    void toFollowed(ToCoordinator message) {
        if (message instanceof LimitsReported report
                && report.token().isPresent()
                && (highestToken.isEmpty()
                        || highestToken.get().isOlderThan(report.token().get()))) {
            highestToken = report.token();
        }
        int sender = incarnation;
        SimulatedCoordinator coordinator = world.coordinators().get(follows);
        world.toCoordinator(this, coordinator, () -> coordinator.receive(message, sender));
    }

    /** @param reached which incarnation of this worker the coordinator knew how to reach */
    void receive(CoordinatorEffect effect, SimulatedCoordinator from, int fromIncarnation, int reached) {
        run(reached, () -> {
            Consumer<ToCoordinator> replyTo = message ->
                    world.toCoordinator(this, from, () -> from.receiveReply(message, reached, fromIncarnation));
            world.note(What.TO_WORKER, number, effect.hashCode(), () -> from.node + " to " + node + ": " + effect);
            if (effect instanceof Learn learn) {
                keepers().forEach(keeper -> keeper.onLearn(learn.token(), replyTo));
            } else if (effect instanceof Desire desire) {
                keepers().stream()
                        .filter(keeper -> keeper.id().equals(desire.device()))
                        .forEach(keeper -> keeper.onPlan(desire, replyTo));
            }
        });
    }

    // ---- ranks

    void toRank(SimulatedRank rank, Order order) {
        Integer connection = connections.get(rank.instance);
        if (connection != null) {
            world.overSocket(() -> rank.onOrder(connection, order));
        }
    }

    SimulatedTurns turns() {
        return turns;
    }

    /** Something about a turn reaches the worker's process. */
    void aboutTurns(SimulatedRank rank, int connection, Consumer<SimulatedTurns> message) {
        int to = incarnation;
        world.overSocket(() -> run(to, () -> {
            if (!rank.mayStillArrive(connection)) {
                return;
            }
            if (connections.getOrDefault(rank.instance, 0) < connection) {
                // Its hello is still on the way; nothing is read of a connection before that.
                world.time().after(WAIT_FOR_HELLO_MILLIS, () -> aboutTurns(rank, connection, message));
                return;
            }
            message.accept(turns);
        }));
    }

    /** Something about a turn reaches a rank. */
    void tellOfTurns(RankInstance instance, BiConsumer<SimulatedRank, Integer> message) {
        Integer connection = connections.get(instance);
        world.ranks().stream()
                .filter(rank -> rank.instance.equals(instance))
                .findFirst()
                .filter(rank -> connection != null)
                .ifPresent(rank -> world.overSocket(() -> message.accept(rank, connection)));
    }

    void later(long millis, Runnable event) {
        int of = incarnation;
        world.time().after(millis, () -> run(of, event));
    }

    void hello(SimulatedRank rank, int connection, Join join) {
        MemoryBytes turn = rank.client().turn();
        long ask = rank.lastAsk();
        int to = incarnation;
        world.overSocket(() -> run(to, () -> {
            boolean isNewest = connections.getOrDefault(rank.instance, 0) < connection;
            if (rank.isAlive() && isNewest && rank.mayStillArrive(connection)) {
                connections.put(rank.instance, connection);
                world.note(What.HELLO, rank.number, join.claimedSequence(), () -> "hello " + join);
                turns.said(rank, turn, ask);
                keeperOf(rank).onJoined(rank, join);
                rank.wasHeard(join.claimedSequence(), join.claimedLimit());
            }
        }));
    }

    void confirm(SimulatedRank rank, int connection, Confirm confirm) {
        int to = incarnation;
        world.overSocket(() -> run(to, () -> {
            if (!rank.mayStillArrive(connection)) {
                return;
            }
            if (connections.getOrDefault(rank.instance, 0) < connection) {
                // Its hello is still on the way; nothing is read of a connection before that.
                world.time().after(WAIT_FOR_HELLO_MILLIS, () -> confirm(rank, connection, confirm));
                return;
            }
            world.note(What.CONFIRM, rank.number, confirm.sequence(), () -> "heard " + confirm);
            keeperOf(rank).onConfirmed(confirm);
            rank.wasHeard(confirm.sequence(), confirm.inForce());
        }));
    }

    private static SimulatedKeeper keeperOf(SimulatedRank rank) {
        SimulatedKeeper keeper = rank.device.keeper;
        if (keeper == null) {
            throw new IllegalStateException("a living worker has a keeper for each device");
        }
        return keeper;
    }
}
