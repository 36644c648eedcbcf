package dev.ullage.worker.limits;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerCommand.Acknowledge;
import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.ledger.LedgerCommand.ExpireReservation;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.LedgerCommand.Leave;
import dev.ullage.common.ledger.LedgerCommand.Measure;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.ledger.Refusal;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.ReportNumber;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.ReservationRefused;
import dev.ullage.common.protocol.ToCoordinator.StaleCoordinator;
import dev.ullage.common.protocol.ToWorker.DesireLimits;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.worker.turns.TurnDesk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The single owner of a device's promises. Receives, lets {@link KeeperLogic} decide, persists, applies, performs: in
 * this order, visibly. Runs on a dispatcher for blocking work, because an append waits for the disk.
 *
 * <p>Hard state: the ledger in its store. Soft state: who listens for orders, counters. Repeats and reports leave on
 * its own tick, never per message. A store that fails stops the keeper: without a ledger it must not promise anything.
 */
public final class LimitKeeper extends AbstractBehavior<LimitKeeper.Command> {
    private static final Logger LOG = LoggerFactory.getLogger(LimitKeeper.class);
    private static final int COMPACT_AFTER_EVENTS = 4096;

    /** What a keeper is told. */
    public sealed interface Command {}

    /** From the coordinator: learn my token and report to me. */
    public record Learn(LearnFrom message) implements Command {}

    /** From the coordinator: a plan for this device. */
    public record Plan(DesireLimits message) implements Command {}

    /** From the coordinator: do this with a reservation, and tell {@code replyTo} what came of it. */
    public record ForReservation(
            LedgerCommand command, CoordinatorToken token, ReservationId id, ActorRef<ToCoordinator> replyTo)
            implements Command {}

    /** From the sampler: what the device and strangers on it measure. */
    public record Measured(MemoryBytes allocatable, MemoryBytes foreign) implements Command {
        public static final Measured NOTHING = new Measured(MemoryBytes.ZERO, MemoryBytes.ZERO);
    }

    /**
     * A process registered, for the first time or again; orders for it go to {@code listener}.
     *
     * @param policy what it asks for; passed on to the coordinator and of no meaning here
     * @param planned what it was estimated to need, likewise
     */
    public record Joined(
            RankInstance instance,
            long claimedSequence,
            MemoryBytes claimedLimit,
            ActorRef<Order> listener,
            Optional<String> policy,
            Optional<PlannedNeeds> planned)
            implements Command {

        /** One that asks for nothing. */
        public Joined(RankInstance instance, long claimedSequence, MemoryBytes claimedLimit, ActorRef<Order> listener) {
            this(instance, claimedSequence, claimedLimit, listener, Optional.empty(), Optional.empty());
        }
    }

    /** A process applied an order. */
    public record Confirmed(RankInstance instance, long sequence, MemoryBytes inForce) implements Command {}

    /** A process is gone. */
    public record Left(RankInstance instance) implements Command {}

    /** Less of the pool is out than before. */
    private enum BurstsFell implements Command {
        INSTANCE
    }

    private enum Tick implements Command {
        INSTANCE
    }

    /**
     * What a keeper needs.
     *
     * @param uplink where reports go; whoever coordinates now
     * @param turns who may use the pool, on all devices of the worker
     */
    public record Setup(
            NodeId node,
            LedgerStore store,
            DeviceLedger replayed,
            ActorRef<ToCoordinator> uplink,
            TurnDesk turns,
            Duration tick,
            Duration resendAfter,
            Clock clock) {}

    private final Setup setup;
    private final KeeperLogic logic;
    private final PromiseAudit audit = new PromiseAudit();
    private final KeeperTally tally;
    private final Map<RankInstance, ActorRef<Order>> listeners = new TreeMap<>();
    private final Map<RankInstance, Joined> asking = new TreeMap<>();
    private final TimerScheduler<Command> timers;
    /** How many of its ticks the timer lets pass in one: at rest, only the report is due. */
    private int ticksAtOnce;

    private int ticksSinceReport;

    private LimitKeeper(ActorContext<Command> context, TimerScheduler<Command> timers, Setup setup) {
        super(context);
        this.setup = setup;
        this.timers = timers;
        this.logic = new KeeperLogic(setup.replayed(), setup.resendAfter());
        this.tally = new KeeperTally(now());
        setup.replayed().grants().forEach(this::believeReplayed);
        setup.replayed().reservations().forEach(held -> audit(held.reservation()));
        setup.turns().onFell(device(), () -> context.getSelf().tell(BurstsFell.INSTANCE));
        settleBursts();
        expire();
        keepTime();
    }

    /**
     * The timer goes as often as something may be due: with nothing to repeat or to expire, no thread is woken for it.
     */
    private void keepTime() {
        int wanted = logic.isAtRest() ? KeeperPace.atRest(setup.tick()) : 1;
        if (wanted != ticksAtOnce) {
            ticksAtOnce = wanted;
            timers.startTimerWithFixedDelay(Tick.INSTANCE, setup.tick().multipliedBy(wanted));
        }
    }

    /** After a restart the ranks may still believe all that the ledger says they may. */
    private void believeReplayed(Grant grant) {
        audit.replayed(grant.instance(), grant.sequence(), grant.ceiling(), budget());
    }

    /** A keeper of the device whose ledger was replayed from the store. */
    public static Behavior<Command> create(Setup setup) {
        return Behaviors.setup(context -> Behaviors.withTimers(timers -> new LimitKeeper(context, timers, setup)));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Learn.class, this::onLearn)
                .onMessage(Plan.class, this::onPlan)
                .onMessage(ForReservation.class, this::onReservation)
                .onMessage(Measured.class, this::onMeasured)
                .onMessage(Joined.class, this::onJoined)
                .onMessage(Confirmed.class, this::onConfirmed)
                .onMessage(Left.class, this::onLeft)
                .onMessageEquals(BurstsFell.INSTANCE, this::onBurstsFell)
                .onMessageEquals(Tick.INSTANCE, this::onTick)
                .onSignal(PostStop.class, signal -> onStopped())
                .build();
    }

    private Behavior<Command> onLearn(Learn command) {
        CoordinatorToken token = command.message().token();
        KeeperLogic.Decision decision = perform(logic.decide(new Acknowledge(token)));
        answerIfStale(decision, token, command.message().replyTo());
        command.message().replyTo().tell(report());
        return this;
    }

    private Behavior<Command> onPlan(Plan command) {
        DesireLimits plan = command.message();
        Desire desire = new Desire(
                plan.token(),
                plan.reserve(),
                plan.turns().map(TurnPlan::pool),
                plan.limits().stream()
                        .map(limit -> new DesiredLimit(limit.instance(), limit.limits(), limit.share()))
                        .toList());
        KeeperLogic.Decision decision = perform(logic.desire(desire, plan.revision()));
        if (decision.desire().isPresent()) {
            setup.turns().plan(device(), plan.turns());
        }
        answerIfStale(decision, plan.token(), plan.replyTo());
        plan.replyTo().tell(report());
        return this;
    }

    private Behavior<Command> onReservation(ForReservation command) {
        KeeperLogic.Decision decision = perform(logic.decide(command.command()));
        answerIfStale(decision, command.token(), command.replyTo());
        decision.refusals().stream()
                .filter(refusal -> refusal.reason() != Refusal.Reason.STALE_COORDINATOR)
                .forEach(refusal -> command.replyTo()
                        .tell(new ReservationRefused(setup.node(), device(), command.id(), refusal.message())));
        command.replyTo().tell(report());
        return this;
    }

    /** Gives back what nobody has committed in time; whether there was any. */
    private boolean expire() {
        List<ReservationId> expired = logic.expired(now());
        expired.forEach(id -> perform(logic.decide(new ExpireReservation(id))));
        return !expired.isEmpty();
    }

    private void answerIfStale(KeeperLogic.Decision decision, CoordinatorToken used, ActorRef<ToCoordinator> to) {
        boolean isStale =
                decision.refusals().stream().anyMatch(refusal -> refusal.reason() == Refusal.Reason.STALE_COORDINATOR);
        Optional<CoordinatorToken> highest = logic.ledger().highestToken();
        if (isStale && highest.isPresent()) {
            to.tell(new StaleCoordinator(setup.node(), device(), used, highest.get()));
        }
    }

    private Behavior<Command> onMeasured(Measured command) {
        boolean wasOver = logic.ledger().isOverBudget();
        KeeperLogic.Decision decision = perform(logic.decide(new Measure(command.allocatable(), command.foreign())));
        if (!wasOver && logic.ledger().isOverBudget()) {
            LOG.warn(
                    "device={} state=OVER_BUDGET wanted=\"{}\" promised=\"{}\" reason=\"only shrinks until it fits\"",
                    device(),
                    logic.ledger().wanted(),
                    logic.ledger().promised());
        }
        reportIfChanged(decision);
        return this;
    }

    private Behavior<Command> onJoined(Joined command) {
        listeners.put(command.instance(), command.listener());
        asking.put(command.instance(), command);
        KeeperLogic.Decision decision =
                perform(logic.decide(new Join(command.instance(), command.claimedSequence(), command.claimedLimit())));
        audit.said(command.instance(), command.claimedSequence(), command.claimedLimit(), budget());
        logic.newestOrder(command.instance())
                .filter(order -> !decision.orders().contains(order))
                .ifPresent(this::send);
        reportIfChanged(decision);
        return this;
    }

    private Behavior<Command> onConfirmed(Confirmed command) {
        KeeperLogic.Decision decision =
                logic.decide(new Confirm(command.instance(), command.sequence(), command.inForce()));
        boolean accepted = decision.refusals().isEmpty();
        if (accepted) {
            audit.said(command.instance(), command.sequence(), command.inForce(), budget());
        }
        perform(decision);
        reportIfChanged(decision);
        return this;
    }

    private Behavior<Command> onLeft(Left command) {
        audit.left(command.instance());
        listeners.remove(command.instance());
        asking.remove(command.instance());
        setup.turns().left(command.instance());
        reportIfChanged(perform(logic.decide(new Leave(command.instance()))));
        return this;
    }

    private Behavior<Command> onBurstsFell() {
        if (settleBursts()) {
            sendReport();
        }
        return this;
    }

    /**
     * What is in force is durable: the desk may give that much and no more. What it says may still be out decides
     * whether a smaller pool comes in force; that in turn may be another amount. Returns whether anything came of it.
     */
    private boolean settleBursts() {
        boolean isChanged = false;
        for (boolean again = true; again; ) {
            MemoryBytes bound = setup.turns().allow(device(), logic.burstsAllowed());
            KeeperLogic.Decision decision = logic.onBurstBound(bound);
            again = !decision.events().isEmpty();
            isChanged |= again;
            carryOut(decision);
        }
        return isChanged;
    }

    private Behavior<Command> onTick() {
        for (Order order : logic.repeats(now())) {
            if (listeners.containsKey(order.instance())) {
                tally.repeated();
                send(order);
            }
        }
        ticksSinceReport += ticksAtOnce;
        if (expire() || ticksSinceReport >= KeeperPace.betweenReports(setup.tick())) {
            sendReport();
        }
        return this;
    }

    private Behavior<Command> onStopped() {
        try (LedgerStore store = setup.store()) {
            store.condense();
        } catch (IOException e) {
            LOG.warn("device={} reason=\"closing the ledger failed: {}\"", device(), e.getMessage());
        }
        return this;
    }

    private KeeperLogic.Decision perform(KeeperLogic.Decision decision) {
        carryOut(decision);
        if (!decision.events().isEmpty()) {
            settleBursts();
        }
        return decision;
    }

    /** Persist, apply, perform. */
    private void carryOut(KeeperLogic.Decision decision) {
        persist(decision);
        tally.confirmed(
                decision.events().stream().filter(this::isFirstConfirmation).count());
        logic.commit(decision, now());
        keepTime();
        decision.events().forEach(this::warnOfAdoption);
        decision.events().forEach(this::noteReservation);
        for (Order order : decision.orders()) {
            tally.sent();
            send(order);
            LOG.info(
                    "device={} rank={} sequence={} limit=\"{}\" reason=\"ordered\"",
                    device(),
                    order.instance(),
                    order.sequence(),
                    order.limits());
        }
        for (Refusal refusal : decision.refusals()) {
            tally.refused(refusal.reason());
            LOG.info("device={} refused={} reason=\"{}\"", device(), refusal.reason(), refusal.message());
        }
    }

    /** Not what a rank says again of the same order, when it holds less. */
    private boolean isFirstConfirmation(LedgerEvent event) {
        return event instanceof LedgerEvent.LimitConfirmed confirmed
                && logic.ledger()
                        .grant(confirmed.instance())
                        .map(grant -> grant.confirmedSequence() < confirmed.sequence())
                        .orElse(true);
    }

    private void warnOfAdoption(LedgerEvent event) {
        if (event instanceof LedgerEvent.RankAdopted adopted) {
            LOG.warn(
                    "device={} rank={} sequence={} limit=\"{}\" reason=\"holds a limit this ledger did not give\"",
                    device(),
                    adopted.instance(),
                    adopted.sequence(),
                    adopted.ceiling());
        }
    }

    private void noteReservation(LedgerEvent event) {
        if (event instanceof LedgerEvent.ReservationMade made) {
            audit(made.reservation());
            note(
                    made.reservation().id(),
                    "reserved: " + made.reservation().part(device()).orElseThrow());
        } else if (event instanceof LedgerEvent.ReservationCommitted committed) {
            note(committed.id(), "committed");
        } else if (event instanceof LedgerEvent.ReservationReleased released) {
            audit.released(released.id());
            note(released.id(), "released");
        } else if (event instanceof LedgerEvent.ReservationExpired expired) {
            audit.released(expired.id());
            note(expired.id(), "expired: nobody committed it in time");
        }
    }

    private void audit(Reservation reservation) {
        reservation.part(device()).ifPresent(part -> audit.reserved(reservation.id(), part.amount(), budget()));
    }

    private void note(ReservationId id, String what) {
        LOG.info("device={} reservation={} reason=\"{}\"", device(), id, what);
    }

    private void persist(KeeperLogic.Decision decision) {
        if (decision.events().isEmpty()) {
            return;
        }
        try {
            setup.store().append(decision.events());
            if (setup.store().length() > COMPACT_AFTER_EVENTS) {
                setup.store().compact(logic.ledger().apply(decision.events()).snapshot());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the ledger of " + device() + " cannot be written", e);
        }
    }

    private void send(Order order) {
        ActorRef<Order> listener = listeners.get(order.instance());
        if (listener != null) {
            audit.sent(order, budget());
            listener.tell(order);
        }
    }

    private void reportIfChanged(KeeperLogic.Decision decision) {
        if (!decision.isNothing()) {
            sendReport();
        }
    }

    private void sendReport() {
        ticksSinceReport = 0;
        setup.uplink().tell(report());
    }

    private LimitsReported report() {
        DeviceLedger ledger = logic.ledger();
        LedgerReport report = new LedgerReport(
                ledger.wanted(),
                ledger.inForce(),
                ledger.isOverBudget(),
                ledger.grants().stream().map(this::reportOf).toList(),
                tally.counts(audit, setup.store().writeTimes()),
                Optional.of(setup.turns().report(device())),
                Optional.of(ledger.reservations().stream()
                        .map(held -> new ReservationReport(held.reservation(), held.committed()))
                        .toList()));
        Optional<ReportNumber> number = Optional.of(tally.number());
        return new LimitsReported(setup.node(), device(), ledger.highestToken(), logic.revision(), report, number);
    }

    private GrantReport reportOf(Grant grant) {
        Optional<Joined> asked = Optional.ofNullable(asking.get(grant.instance()));
        return new GrantReport(
                grant.instance(),
                grant.share(),
                grant.target(),
                grant.sequence(),
                grant.confirmedSequence(),
                grant.ceiling(),
                asked.flatMap(Joined::policy),
                asked.flatMap(Joined::planned));
    }

    private DeviceId device() {
        return logic.ledger().device();
    }

    private MemoryBytes budget() {
        return logic.ledger().inForce().budget();
    }

    private Instant now() {
        return setup.clock().instant();
    }
}
