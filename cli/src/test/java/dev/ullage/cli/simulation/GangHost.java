package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.HeldReservation;
import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerCommand.ExpireReservation;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.LedgerCommand.Leave;
import dev.ullage.common.ledger.LedgerCommand.Measure;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.ledger.Refusal;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.simulation.SimulatedDisk;
import dev.ullage.worker.limits.KeeperLogic;
import dev.ullage.worker.limits.KeeperLogic.Decision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A host of {@link GangSimulation}: its worker with a production {@link KeeperLogic} per device, and simple ranks. */
final class GangHost {
    static final MemoryBytes CAPACITY = MemoryBytes.ofGibibytes(100);
    private static final Share RESERVE = Share.ofPercent(20);
    private static final Duration RESEND_AFTER = Duration.ofSeconds(1);

    private final GangSimulation world;
    final NodeId node;
    final int endpoint;
    final List<Device> devices = new ArrayList<>();
    private boolean isAlive = true;
    private long awaySince;
    private long backAt;
    private long longestAway;
    private int ticks;

    /**
     * What a worker says of a device.
     *
     * @param announced what a coordinator hears of its node before anything else
     */
    record Report(WorkerAnnounced announced, DeviceSampled sample, LimitsReported limits) {}

    /** The worker's process ends here; what it was doing is not finished. */
    private static final class Died extends RuntimeException {}

    GangHost(GangSimulation world, NodeId node, int endpoint) {
        this.world = world;
        this.node = node;
        this.endpoint = endpoint;
    }

    boolean isAlive() {
        return isAlive;
    }

    /** What happens in the worker's process; nothing when there is none. */
    void run(Runnable event) {
        if (!isAlive) {
            return;
        }
        try {
            event.run();
        } catch (Died e) {
            crash();
        }
    }

    void crash() {
        crash(world.dice().between(50, 5_000));
    }

    /** It is away for so long; one that is away already stays away longer. */
    void crash(long millis) {
        long until = world.time().nowMillis() + millis;
        if (isAlive) {
            isAlive = false;
            awaySince = world.time().nowMillis();
            world.note(What.CRASH, endpoint, () -> node + " dies, until " + until);
            devices.forEach(device -> device.disk.crash(world.dice()));
        }
        backAt = Math.max(backAt, until);
        world.time().after(millis, this::restart);
    }

    /** Whether it was away for so long at a stretch, now or at any time. */
    boolean wasAwayFor(long millis) {
        long now = isAlive ? awaySince : world.time().nowMillis();
        longestAway = Math.max(longestAway, now - awaySince);
        return longestAway >= millis;
    }

    private void restart() {
        if (isAlive || world.time().nowMillis() < backAt) {
            return;
        }
        isAlive = true;
        longestAway = Math.max(longestAway, world.time().nowMillis() - awaySince);
        world.note(What.START, endpoint, () -> node + " starts");
        run(() -> devices.forEach(Device::start));
    }

    private void mayDie() {
        if (world.isStormy() && world.dice().chance(5)) {
            throw new Died();
        }
    }

    void tick() {
        run(() -> {
            ticks++;
            for (Device device : devices) {
                device.expire();
                device.logic().repeats(world.time().now()).forEach(device::send);
                if (ticks % 4 == 0) {
                    world.report(this, device.report());
                }
            }
        });
    }

    /** A device and its keeper, which is what {@code LimitKeeper} is around {@link KeeperLogic}. */
    final class Device {
        final DeviceId id;
        private final int index;
        final SimulatedDisk<LedgerEvent> disk = new SimulatedDisk<>();
        final NavigableMap<RankInstance, Rank> ranks = new TreeMap<>();
        private final NavigableMap<ReservationId, Long> committedAt = new TreeMap<>();
        private @Nullable KeeperLogic logic;
        private long revision;
        private MemoryBytes foreign = MemoryBytes.ZERO;
        boolean wasWiped;

        Device(DeviceId id, int index) {
            this.id = id;
            this.index = index;
            open();
        }

        GangHost host() {
            return GangHost.this;
        }

        KeeperLogic logic() {
            KeeperLogic known = logic;
            if (known == null) {
                throw new IllegalStateException("no keeper of " + id);
            }
            return known;
        }

        private void open() {
            List<LedgerEvent> past = disk.read();
            if (past.isEmpty()) {
                LedgerEvent opened = new LedgerEvent.Opened(id, new BudgetTerms(CAPACITY, RESERVE, MemoryBytes.ZERO));
                disk.append(List.of(opened));
                disk.sync();
                past = List.of(opened);
            }
            logic = new KeeperLogic(replayed(past), RESEND_AFTER);
        }

        void start() {
            open();
            expire();
            List<RankInstance> granted = logic().ledger().grants().stream()
                    .map(grant -> grant.instance())
                    .toList();
            granted.stream().filter(instance -> !ranks.containsKey(instance)).forEach(this::left);
            List.copyOf(ranks.values()).forEach(this::hello);
        }

        /** What is durable, also while no worker runs. */
        DeviceLedger durable() {
            return replayed(disk.read());
        }

        /** What its worker goes by, or will when it starts again. */
        DeviceLedger newest() {
            return isAlive ? logic().ledger() : durable();
        }

        /** Whom it obeys; empty: nobody yet, or it has lost its disk and is not back. */
        Optional<CoordinatorToken> obeyed() {
            return isAlive || disk.length() > 0 ? newest().highestToken() : Optional.empty();
        }

        boolean keeps(JobId job) {
            return isAlive
                    && logic().ledger().reservations().stream()
                            .anyMatch(held -> held.id().job().equals(job));
        }

        DeviceInfo info() {
            return new DeviceInfo(id, index, "H100-80G", DeviceKind.SIMULATED, Optional.empty());
        }

        private static DeviceLedger replayed(List<LedgerEvent> past) {
            DeviceLedger ledger = DeviceLedger.open(past.get(0));
            for (LedgerEvent event : past.subList(1, past.size())) {
                ledger = ledger.apply(event);
            }
            return ledger;
        }

        void expire() {
            if (world.mutant() != GangMutant.NO_EXPIRY) {
                logic().expired(world.time().now()).forEach(one -> on(new ExpireReservation(one)));
            }
            if (world.mutant() == GangMutant.COMMITTED_EXPIRES) {
                expireCommitted();
            }
        }

        private void expireCommitted() {
            for (HeldReservation held : List.copyOf(logic().ledger().reservations())) {
                long since = committedAt.computeIfAbsent(
                        held.id(), key -> world.time().nowMillis());
                if (held.committed() && world.time().nowMillis() - since > Protocol.RESERVATION_KEPT.toMillis()) {
                    LedgerEvent expired = new LedgerEvent.ReservationExpired(held.id());
                    perform(new Decision(List.of(expired), List.of(), List.of(), Optional.empty(), 0));
                }
            }
        }

        Decision on(LedgerCommand command) {
            return perform(logic().decide(command));
        }

        private Decision perform(Decision decision) {
            if (!decision.events().isEmpty()) {
                disk.append(decision.events());
                mayDie();
                disk.sync();
                mayDie();
            }
            logic().commit(decision, world.time().now());
            if (!decision.isNothing()) {
                world.note(What.RESERVATION, endpoint, () -> id + " decides: " + GangLines.of(decision));
            }
            decision.events().forEach(event -> world.happened(this, event));
            world.promises().check(this);
            decision.orders().forEach(this::send);
            return decision;
        }

        /** From a coordinator: done, and answered with the report and with what was refused. */
        void asked(LedgerCommand command, Consumer<String> refused, Consumer<Report> replyTo) {
            Decision decision =
                    command instanceof Desire desire ? perform(logic().desire(desire, ++revision)) : on(command);
            decision.refusals().stream()
                    .filter(refusal -> refusal.reason() != Refusal.Reason.STALE_COORDINATOR)
                    .map(Refusal::message)
                    .forEach(refused);
            replyTo.accept(report());
        }

        void measured(long foreignGibibytes) {
            foreign = MemoryBytes.ofGibibytes(foreignGibibytes);
            on(new Measure(CAPACITY, foreign));
        }

        Report report() {
            MemoryBytes used = ranks.values().stream()
                    .map(rank -> rank.inForce)
                    .reduce(foreign, MemoryBytes::plus)
                    .min(CAPACITY);
            MemoryUse memory = new MemoryUse(CAPACITY, Optional.of(MemoryBytes.ZERO), used, CAPACITY.minus(used));
            List<DeviceInfo> all = devices.stream().map(Device::info).toList();
            return new Report(
                    new WorkerAnnounced(node, Protocol.VERSION, logic().ledger().highestToken(), all, Stubs.WORKER),
                    new DeviceSampled(node, id, 10, Optional.of(memory), Optional.of(foreign), List.of(), List.of()),
                    limits());
        }

        private LimitsReported limits() {
            DeviceLedger ledger = logic().ledger();
            List<GrantReport> grants = ledger.grants().stream()
                    .map(grant -> new GrantReport(
                            grant.instance(),
                            grant.share(),
                            grant.target(),
                            grant.sequence(),
                            grant.confirmedSequence(),
                            grant.ceiling()))
                    .toList();
            LedgerReport report = new LedgerReport(
                    ledger.wanted(),
                    ledger.inForce(),
                    ledger.isOverBudget(),
                    grants,
                    KeeperCounts.NONE,
                    Optional.empty(),
                    Optional.of(ledger.reservations().stream()
                            .map(held -> new ReservationReport(held.reservation(), held.committed()))
                            .toList()));
            return new LimitsReported(node, id, ledger.highestToken(), logic().revision(), report);
        }

        void joins(Rank rank) {
            ranks.put(rank.instance, rank);
            run(() -> hello(rank));
        }

        private void hello(Rank rank) {
            on(new Join(rank.instance, rank.applied, rank.inForce));
            logic().newestOrder(rank.instance).ifPresent(this::send);
        }

        /** Its process ends; the worker sees it when it looks, or after its own restart. */
        void ends(RankInstance instance) {
            ranks.remove(instance);
            world.time().after(world.dice().between(1, 500), () -> run(() -> left(instance)));
        }

        private void left(RankInstance instance) {
            on(new Leave(instance));
        }

        private void send(Order order) {
            world.time().after(world.dice().between(1, 300), () -> {
                Rank rank = ranks.get(order.instance());
                if (rank != null && rank.applies(order)) {
                    world.promises().check(this);
                    Confirm confirm = new Confirm(rank.instance, rank.applied, rank.inForce);
                    world.time().after(world.dice().between(1, 300), () -> run(() -> on(confirm)));
                }
            });
        }
    }

    /** A process that does what the highest order says as soon as it hears of it. */
    static final class Rank {
        final RankInstance instance;
        private long applied;
        MemoryBytes inForce = MemoryBytes.ZERO;

        Rank(RankInstance instance) {
            this.instance = instance;
        }

        boolean applies(Order order) {
            if (order.sequence() < applied) {
                return false;
            }
            applied = order.sequence();
            inForce = order.limits().max();
            return true;
        }
    }
}
