package dev.ullage.worker.limits;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.ledger.HeldReservation;
import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerDecision;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.ledger.Refusal;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.protocol.Protocol;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a device's keeper decides, without actor, file or clock. One owner, not thread safe.
 *
 * <p>Use: {@code d = logic.decide(...)}, persist {@code d.events()}, {@code logic.commit(d)}, then send
 * {@code d.orders()}. A decision that could not be persisted is simply not committed.
 *
 * <p>Hard state: the ledger. Soft state: the newest desire of the coordinator (it will be sent again), when each order
 * was last sent, how much of the pool may be out (after a restart all of it, until somebody knows better), and since
 * when each reservation waits for its commit: after a restart too long.
 */
public final class KeeperLogic {
    private final Duration resendAfter;
    private final Map<RankInstance, Instant> lastSent = new TreeMap<>();
    private final Map<ReservationId, Instant> reservedAt = new TreeMap<>();
    private DeviceLedger ledger;
    private Optional<Wish> wish = Optional.empty();
    private MemoryBytes out;

    public KeeperLogic(DeviceLedger ledger, Duration resendAfter) {
        this.ledger = ledger;
        this.resendAfter = resendAfter;
        this.out = ledger.inForce().usablePool();
    }

    /** The newest desire and its number. */
    private record Wish(Desire desire, long revision) {}

    /**
     * What an input comes to.
     *
     * @param events to persist before anything else
     * @param orders to send after that
     * @param refusals what was not done
     */
    public record Decision(
            List<LedgerEvent> events,
            List<Order> orders,
            List<Refusal> refusals,
            Optional<Desire> desire,
            long revision) {
        public Decision {
            events = List.copyOf(events);
            orders = List.copyOf(orders);
            refusals = List.copyOf(refusals);
        }

        public boolean isNothing() {
            return events.isEmpty() && orders.isEmpty() && refusals.isEmpty();
        }
    }

    /**
     * A coordinator's plan. Replaces every older one of the same token; an older revision than the newest is ignored.
     */
    public Decision desire(Desire desire, long revision) {
        boolean isOld = wish.isPresent()
                && wish.get().desire().token().equals(desire.token())
                && revision < wish.get().revision();
        if (isOld) {
            return new Decision(List.of(), List.of(), List.of(), Optional.empty(), 0);
        }
        LedgerDecision decision = ledger.decide(desire, out);
        boolean isStale =
                decision.refusals().stream().anyMatch(refusal -> refusal.reason() == Refusal.Reason.STALE_COORDINATOR);
        return new Decision(
                decision.events(),
                decision.orders(),
                decision.refusals(),
                isStale ? Optional.empty() : Optional.of(desire),
                revision);
    }

    /** Anything else that happened. What it frees is given at once to whoever the newest plan wants to grow. */
    public Decision decide(LedgerCommand command) {
        LedgerDecision first = ledger.decide(command, out);
        List<LedgerEvent> events = new ArrayList<>(first.events());
        List<Order> orders = new ArrayList<>(first.orders());
        if (!events.isEmpty() && wish.isPresent()) {
            DeviceLedger after = ledger.apply(first.events());
            boolean obeysSame =
                    after.highestToken().equals(Optional.of(wish.get().desire().token()));
            if (obeysSame) {
                LedgerDecision second = after.decide(known(wish.get().desire(), after), out);
                events.addAll(second.events());
                orders.addAll(second.orders());
            }
        }
        return new Decision(events, orders, first.refusals(), Optional.empty(), 0);
    }

    /**
     * What bursts may come to: never more than the pool in force, and no more of one that is to become smaller. To be
     * raised only after what was decided is durable.
     */
    public MemoryBytes burstsAllowed() {
        return ledger.inForce().usablePool().min(ledger.wanted().usablePool());
    }

    /** @param bound the most that bursts may come to until this is said again; terms with a smaller pool must wait */
    public Decision onBurstBound(MemoryBytes bound) {
        out = bound;
        return decide(new LedgerCommand.Reconsider());
    }

    /** The plan without the ranks that have left since it was made. */
    private static Desire known(Desire desire, DeviceLedger ledger) {
        return new Desire(
                desire.token(),
                desire.reserve(),
                desire.pool(),
                desire.limits().stream()
                        .filter(limit -> ledger.grant(limit.instance()).isPresent())
                        .toList());
    }

    /** Makes the decision's events part of the state; its orders count as sent at {@code now}. */
    public void commit(Decision decision, Instant now) {
        ledger = ledger.apply(decision.events());
        decision.desire().ifPresent(desire -> wish = Optional.of(new Wish(desire, decision.revision())));
        decision.orders().forEach(order -> lastSent.put(order.instance(), now));
        lastSent.keySet().removeIf(instance -> ledger.grant(instance).isEmpty());
        for (LedgerEvent event : decision.events()) {
            if (event instanceof LedgerEvent.ReservationMade made) {
                reservedAt.put(made.reservation().id(), now);
            }
        }
        reservedAt.keySet().removeIf(id -> ledger.reservation(id)
                .filter(held -> !held.committed())
                .isEmpty());
    }

    /**
     * The reservations whose time is up at {@code now}: nobody has committed them since they were made, or they were
     * made before this start, and whoever made them may have given up. Each is to be decided as
     * {@code LedgerCommand.ExpireReservation}.
     */
    public List<ReservationId> expired(Instant now) {
        return ledger.reservations().stream()
                .filter(held -> !held.committed())
                .map(HeldReservation::id)
                .filter(id -> isOver(id, now))
                .toList();
    }

    private boolean isOver(ReservationId id, Instant now) {
        Instant since = reservedAt.get(id);
        return since == null || !now.isBefore(since.plus(Protocol.RESERVATION_KEPT));
    }

    /**
     * The orders to repeat at {@code now}: unconfirmed, and not sent within the resend interval. Marks them as sent.
     */
    public List<Order> repeats(Instant now) {
        List<Order> due = ledger.outstandingOrders().stream()
                .filter(order -> isDue(order.instance(), now))
                .toList();
        due.forEach(order -> lastSent.put(order.instance(), now));
        return due;
    }

    private boolean isDue(RankInstance instance, Instant now) {
        Instant sent = lastSent.get(instance);
        return sent == null || !now.isBefore(sent.plus(resendAfter));
    }

    /** Whether no time that passes would change anything: every order is confirmed and every reservation committed. */
    public boolean isAtRest() {
        return ledger.outstandingOrders().isEmpty()
                && ledger.reservations().stream().allMatch(HeldReservation::committed);
    }

    /** The newest order of a rank that has just said hello: it may have lost what it was told. */
    public Optional<Order> newestOrder(RankInstance instance) {
        return ledger.grant(instance).flatMap(KeeperLogic::newest);
    }

    private static Optional<Order> newest(Grant grant) {
        return grant.target().map(limits -> new Order(grant.instance(), grant.sequence(), limits));
    }

    public DeviceLedger ledger() {
        return ledger;
    }

    /** The newest plan worked on of the coordinator it obeys now, 0 when none. */
    public long revision() {
        return wish.filter(newest ->
                        ledger.highestToken().equals(Optional.of(newest.desire().token())))
                .map(Wish::revision)
                .orElse(0L);
    }
}
