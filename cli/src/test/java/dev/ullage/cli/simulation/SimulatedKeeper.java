package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.ledger.LedgerCommand.Acknowledge;
import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.LedgerCommand.Leave;
import dev.ullage.common.ledger.LedgerCommand.Measure;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.LedgerEvent.RankAdopted;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.ledger.Refusal;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.StaleCoordinator;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.coordinator.CoordinatorEffect;
import dev.ullage.worker.limits.KeeperLogic;
import dev.ullage.worker.limits.KeeperLogic.Decision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * What {@code LimitKeeper} is around {@link KeeperLogic}: persist, commit, send, report, in this order, with the places
 * where its process may die in between.
 */
final class SimulatedKeeper {
    static final Duration RESEND_AFTER = Duration.ofSeconds(1);
    private static final int REPORT_EVERY_TICKS = 4;
    private static final int COMPACT_AFTER_RECORDS = 40;

    private final World world;
    private final SimulatedHost host;
    private final SimulatedDevice device;
    private final KeeperLogic logic;
    private final Map<RankInstance, SimulatedRank> listeners = new TreeMap<>();
    private final Map<RankInstance, Sends> sends = new TreeMap<>();
    private int ticksSinceReport;

    /** How often the newest order of a rank was sent, and how often that was because it said hello. */
    private static final class Sends {
        private long sequence;
        private long firstMillis;
        private long count;
        private long hellos;
    }

    SimulatedKeeper(World world, SimulatedHost host, SimulatedDevice device, DeviceLedger replayed) {
        this.world = world;
        this.host = host;
        this.device = device;
        this.logic = new KeeperLogic(replayed, RESEND_AFTER);
    }

    DeviceLedger ledger() {
        return logic.ledger();
    }

    DeviceId id() {
        return device.info.id();
    }

    void onLearn(CoordinatorToken token, Consumer<ToCoordinator> replyTo) {
        Acknowledge acknowledge = new Acknowledge(token);
        world.rules().beforeAcknowledge(this, acknowledge);
        Decision decision = perform(logic.decide(acknowledge));
        answerIfStale(decision, token, replyTo);
        replyTo.accept(report());
    }

    void onPlan(CoordinatorEffect.Desire plan, Consumer<ToCoordinator> replyTo) {
        Desire desire = new Desire(
                plan.token(),
                plan.reserve(),
                plan.turns().map(TurnPlan::pool),
                plan.limits().stream()
                        .map(limit -> new DesiredLimit(limit.instance(), limit.limits(), limit.share()))
                        .toList());
        world.rules().beforeDesire(this, desire);
        Decision decision = perform(logic.desire(desire, plan.revision()));
        if (decision.desire().isPresent()) {
            host.turns().plan(id(), plan.turns());
        }
        answerIfStale(decision, plan.token(), replyTo);
        replyTo.accept(report());
    }

    private void answerIfStale(Decision decision, CoordinatorToken used, Consumer<ToCoordinator> replyTo) {
        boolean isStale =
                decision.refusals().stream().anyMatch(refusal -> refusal.reason() == Refusal.Reason.STALE_COORDINATOR);
        Optional<CoordinatorToken> highest = ledger().highestToken();
        if (isStale && highest.isPresent()) {
            replyTo.accept(new StaleCoordinator(host.node, id(), used, highest.get()));
        }
    }

    void onMeasured() {
        reportIfChanged(perform(logic.decide(new Measure(device.allocatable(), device.foreign()))));
    }

    void onJoined(SimulatedRank rank, Join join) {
        listeners.put(join.instance(), rank);
        Decision decision = perform(logic.decide(join));
        sends.computeIfAbsent(join.instance(), key -> new Sends()).hellos++;
        logic.newestOrder(join.instance())
                .filter(order -> !decision.orders().contains(order))
                .ifPresent(this::send);
        reportIfChanged(decision);
    }

    void onConfirmed(Confirm confirm) {
        reportIfChanged(perform(logic.decide(world.rules().heard(confirm, ledger()))));
    }

    void onLeft(RankInstance instance) {
        listeners.remove(instance);
        sends.remove(instance);
        reportIfChanged(perform(logic.decide(new Leave(instance))));
    }

    void onTick() {
        logic.repeats(now()).forEach(this::send);
        if (++ticksSinceReport >= REPORT_EVERY_TICKS) {
            sendReport();
        }
    }

    Decision perform(Decision decision) {
        carryOut(decision);
        if (!decision.events().isEmpty()) {
            settleBursts();
        }
        return decision;
    }

    /** As in {@code LimitKeeper}. */
    void settleBursts() {
        boolean isChanged = false;
        for (boolean again = true; again; ) {
            MemoryBytes allowed = world.rules().burstsAllowed(logic);
            MemoryBytes bound = world.rules().burstBound(host.turns().allow(id(), allowed), allowed);
            Decision decision = logic.onBurstBound(bound);
            again = !decision.events().isEmpty();
            isChanged |= again;
            carryOut(decision);
        }
        if (isChanged) {
            sendReport();
        }
    }

    /** Persist, apply, perform. */
    private void carryOut(Decision decision) {
        if (!world.rules().sendsBeforePersisting()) {
            persist(decision);
        }
        requireExplained(decision.events());
        logic.commit(decision, now());
        for (Order order : decision.orders()) {
            send(order);
            host.mayDieAt(SimulatedHost.CrashPoint.BETWEEN_SENDS);
        }
        if (world.rules().sendsBeforePersisting()) {
            persist(decision);
        }
        world.rules().afterDecision(this);
    }

    private void persist(Decision decision) {
        if (decision.events().isEmpty()) {
            return;
        }
        if (world.rules().persists()) {
            device.disk.append(decision.events());
        }
        host.mayDieAt(SimulatedHost.CrashPoint.BEFORE_SYNC);
        if (world.rules().persists()) {
            device.disk.sync();
            device.synced(decision.events());
        }
        if (device.disk.length() > COMPACT_AFTER_RECORDS) {
            DeviceLedger after = ledger();
            for (LedgerEvent event : decision.events()) {
                after = after.apply(event);
            }
            device.disk.replaceBy(List.of(after.snapshot()));
        }
        host.mayDieAt(SimulatedHost.CrashPoint.AFTER_SYNC);
    }

    private void requireExplained(List<LedgerEvent> events) {
        for (LedgerEvent event : events) {
            if (event instanceof RankAdopted && !device.mayAdopt) {
                throw new Violation(
                        Violation.Kind.SAFETY,
                        "%s was surprised by a rank, though its disk was never lost: %s".formatted(id(), event));
            }
        }
    }

    void send(Order order) {
        SimulatedRank rank = listeners.get(order.instance());
        if (rank == null) {
            return;
        }
        requireNoStorm(order);
        if (device.durableSequence(order.instance()) < order.sequence()
                && world.rules().isDurabilityChecked()) {
            throw new Violation(Violation.Kind.SAFETY, "order %s left %s before it was durable".formatted(order, id()));
        }
        world.note(What.ORDER, device.number, order.sequence(), () -> "%s orders %s".formatted(id(), order));
        host.toRank(rank, order);
    }

    private void requireNoStorm(Order order) {
        Sends sent = sends.computeIfAbsent(order.instance(), key -> new Sends());
        if (sent.sequence != order.sequence()) {
            sent.sequence = order.sequence();
            sent.firstMillis = world.time().nowMillis();
            sent.count = 0;
            sent.hellos = 0;
        }
        long allowed = 2 + sent.hellos + (world.time().nowMillis() - sent.firstMillis) / RESEND_AFTER.toMillis();
        if (++sent.count > allowed) {
            throw new Violation(
                    Violation.Kind.MESSAGES,
                    "%s sent order %d of %s %d times; %d would do"
                            .formatted(id(), order.sequence(), order.instance(), sent.count, allowed));
        }
    }

    private void reportIfChanged(Decision decision) {
        if (!decision.isNothing()) {
            sendReport();
        }
    }

    private void sendReport() {
        ticksSinceReport = 0;
        host.toFollowed(report());
    }

    private LimitsReported report() {
        DeviceLedger ledger = ledger();
        LedgerReport report = new LedgerReport(
                ledger.wanted(),
                ledger.inForce(),
                ledger.isOverBudget(),
                ledger.grants().stream().map(SimulatedKeeper::reportOf).toList(),
                KeeperCounts.NONE,
                Optional.of(host.turns().report(id())));
        return new LimitsReported(host.node, id(), ledger.highestToken(), logic.revision(), report);
    }

    private static GrantReport reportOf(Grant grant) {
        return new GrantReport(
                grant.instance(),
                grant.share(),
                grant.target(),
                grant.sequence(),
                grant.confirmedSequence(),
                grant.ceiling());
    }

    private Instant now() {
        return world.time().now();
    }

    /** For mutants: makes these events true, whatever the rules say. */
    void force(LedgerEvent event) {
        if (world.rules().persists()) {
            device.disk.append(List.of(event));
            device.disk.sync();
        }
        logic.commit(new Decision(List.of(event), List.of(), List.of(), Optional.empty(), 0), now());
    }

    /** For mutants: decides as any other command would be. */
    KeeperLogic logic() {
        return logic;
    }

    /** For mutants. */
    World world() {
        return world;
    }
}
