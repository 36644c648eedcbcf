package dev.ullage.common.ledger;

import dev.ullage.common.ledger.LedgerEvent.LimitConfirmed;
import dev.ullage.common.ledger.LedgerEvent.LimitOrdered;
import dev.ullage.common.ledger.LedgerEvent.Opened;
import dev.ullage.common.ledger.LedgerEvent.RankAdopted;
import dev.ullage.common.ledger.LedgerEvent.RankJoined;
import dev.ullage.common.ledger.LedgerEvent.RankLeft;
import dev.ullage.common.ledger.LedgerEvent.ReservationCommitted;
import dev.ullage.common.ledger.LedgerEvent.ReservationExpired;
import dev.ullage.common.ledger.LedgerEvent.ReservationMade;
import dev.ullage.common.ledger.LedgerEvent.ReservationReleased;
import dev.ullage.common.ledger.LedgerEvent.Snapshot;
import dev.ullage.common.ledger.LedgerEvent.TermsInForce;
import dev.ullage.common.ledger.LedgerEvent.TermsWanted;
import dev.ullage.common.ledger.LedgerEvent.TokenSeen;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.ReservationId;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * The promises made on one device. Immutable; {@link #apply} is the only way to a new state, and all of this state is
 * hard: it is replayed from the ledger file after a crash.
 *
 * <p>Invariant: {@code promised = sum(ceiling) + sum(outstanding) <= budget in force}, where {@code outstanding} is
 * what is reserved for a job beyond the ceilings of its ranks here. Ordering a shrink lowers a rank's target and leaves
 * its ceiling; only the rank's confirmation of the latest sequence lowers the ceiling. A grow raises the ceiling at
 * once, so it is admitted only into room that nobody else is promised: what is free, and what is kept for its own job.
 * Terms (capacity, reserve, foreign memory) that would make the budget smaller than what is promised are
 * <em>wanted</em> first and come in force when it fits; until then only shrinks are admitted, and what was promised
 * before is given where the wanted budget has the room.
 *
 * <p>A pool for bursts is a term as the reserve is one. What of it is out at this moment is not known here but said
 * with each decision: terms whose pool is smaller than that stay wanted.
 */
public final class DeviceLedger {
    private final DeviceId device;
    private final Optional<CoordinatorToken> highestToken;
    private final BudgetTerms wanted;
    private final BudgetTerms inForce;
    private final NavigableMap<RankInstance, Grant> grants;
    private final NavigableMap<ReservationId, HeldReservation> reservations;
    private final MemoryBytes ceilings;
    private final ReservedRoom reserved;

    private DeviceLedger(
            DeviceId device,
            Optional<CoordinatorToken> highestToken,
            BudgetTerms wanted,
            BudgetTerms inForce,
            NavigableMap<RankInstance, Grant> grants,
            NavigableMap<ReservationId, HeldReservation> reservations) {
        this.device = device;
        this.highestToken = highestToken;
        this.wanted = wanted;
        this.inForce = inForce;
        this.grants = grants;
        this.reservations = reservations;
        this.ceilings = grants.values().stream().map(Grant::ceiling).reduce(MemoryBytes.ZERO, MemoryBytes::plus);
        this.reserved = ReservedRoom.of(device, reservations.values(), grants.values());
    }

    /** The ledger after its first event, which is {@link Opened} or, after compaction, {@link Snapshot}. */
    public static DeviceLedger open(LedgerEvent first) {
        if (first instanceof Opened opened) {
            return new DeviceLedger(
                    opened.device(),
                    Optional.empty(),
                    opened.terms(),
                    opened.terms(),
                    new TreeMap<>(),
                    new TreeMap<>());
        }
        if (first instanceof Snapshot snapshot) {
            return ofSnapshot(snapshot);
        }
        throw new IllegalArgumentException("a ledger starts with Opened or Snapshot, not with " + first);
    }

    private static DeviceLedger ofSnapshot(Snapshot snapshot) {
        NavigableMap<RankInstance, Grant> grants = new TreeMap<>();
        snapshot.grants().forEach(grant -> grants.put(grant.instance(), grant));
        NavigableMap<ReservationId, HeldReservation> reservations = new TreeMap<>();
        snapshot.reservations().ifPresent(all -> all.forEach(held -> reservations.put(held.id(), held)));
        return new DeviceLedger(
                snapshot.device(),
                snapshot.highestToken(),
                snapshot.wanted(),
                snapshot.inForce(),
                grants,
                reservations);
    }

    /** The state as one event, for compaction. */
    public Snapshot snapshot() {
        return new Snapshot(
                device,
                highestToken,
                wanted,
                inForce,
                List.copyOf(grants.values()),
                Optional.of(List.copyOf(reservations.values())));
    }

    /** What the command comes to when all of the pool may be out; changes nothing. */
    public LedgerDecision decide(LedgerCommand command) {
        return decide(command, inForce.usablePool());
    }

    /**
     * What the command comes to; changes nothing.
     *
     * @param out the most that bursts on this device may come to until the next decision
     */
    public LedgerDecision decide(LedgerCommand command, MemoryBytes out) {
        return new LedgerDecider(this, out).decide(command);
    }

    /** The state after the event. Throws {@link IllegalStateException} when an invariant would break. */
    public DeviceLedger apply(LedgerEvent event) {
        return LedgerInvariants.requireWithinBudget(this, event, applyUnchecked(event));
    }

    private DeviceLedger applyUnchecked(LedgerEvent event) {
        if (event instanceof TokenSeen seen) {
            return new DeviceLedger(device, Optional.of(seen.token()), wanted, inForce, grants, reservations);
        }
        if (event instanceof TermsWanted terms) {
            return new DeviceLedger(device, highestToken, terms.terms(), inForce, grants, reservations);
        }
        if (event instanceof TermsInForce) {
            return new DeviceLedger(device, highestToken, wanted, wanted, grants, reservations);
        }
        if (event instanceof RankJoined joined) {
            return with(Grant.joined(joined.instance(), 0, MemoryBytes.ZERO));
        }
        if (event instanceof RankAdopted adopted) {
            return with(grant(adopted.instance())
                    .map(grant -> grant.adopted(adopted.sequence(), adopted.ceiling()))
                    .orElseGet(() -> Grant.joined(adopted.instance(), adopted.sequence(), adopted.ceiling())));
        }
        if (event instanceof LimitOrdered ordered) {
            return changing(
                    ordered.instance(), grant -> grant.ordered(ordered.sequence(), ordered.limits(), ordered.share()));
        }
        if (event instanceof LimitConfirmed confirmed) {
            return changing(confirmed.instance(), grant -> grant.confirmed(confirmed.sequence(), confirmed.ceiling()));
        }
        if (event instanceof RankLeft left) {
            NavigableMap<RankInstance, Grant> rest = new TreeMap<>(grants);
            rest.remove(left.instance());
            return new DeviceLedger(device, highestToken, wanted, inForce, rest, reservations);
        }
        if (event instanceof Snapshot snapshot) {
            return ofSnapshot(snapshot);
        }
        return applyToReservations(event);
    }

    private DeviceLedger applyToReservations(LedgerEvent event) {
        if (event instanceof ReservationMade made) {
            return with(new HeldReservation(made.reservation(), false));
        }
        if (event instanceof ReservationCommitted committed) {
            return with(reservation(committed.id())
                    .orElseThrow(() -> new IllegalStateException("no reservation " + committed.id() + " on " + device))
                    .kept());
        }
        if (event instanceof ReservationReleased released) {
            return without(released.id());
        }
        if (event instanceof ReservationExpired expired) {
            return without(expired.id());
        }
        throw new IllegalArgumentException("only a ledger's first event may be " + event);
    }

    private DeviceLedger with(HeldReservation held) {
        NavigableMap<ReservationId, HeldReservation> changed = new TreeMap<>(reservations);
        changed.put(held.id(), held);
        return new DeviceLedger(device, highestToken, wanted, inForce, grants, changed);
    }

    private DeviceLedger without(ReservationId id) {
        NavigableMap<ReservationId, HeldReservation> rest = new TreeMap<>(reservations);
        rest.remove(id);
        return new DeviceLedger(device, highestToken, wanted, inForce, grants, rest);
    }

    private DeviceLedger changing(RankInstance instance, UnaryOperator<Grant> change) {
        Grant grant = grant(instance)
                .orElseThrow(() -> new IllegalStateException("no grant of " + instance + " on " + device));
        return with(change.apply(grant));
    }

    private DeviceLedger with(Grant grant) {
        NavigableMap<RankInstance, Grant> changed = new TreeMap<>(grants);
        changed.put(grant.instance(), grant);
        return new DeviceLedger(device, highestToken, wanted, inForce, changed, reservations);
    }

    public DeviceId device() {
        return device;
    }

    public Optional<CoordinatorToken> highestToken() {
        return highestToken;
    }

    public BudgetTerms wanted() {
        return wanted;
    }

    public BudgetTerms inForce() {
        return inForce;
    }

    /** All grants, ordered by instance. */
    public Collection<Grant> grants() {
        return Collections.unmodifiableCollection(grants.values());
    }

    public Optional<Grant> grant(RankInstance instance) {
        return Optional.ofNullable(grants.get(instance));
    }

    /** The sum of the ceilings: all that may be in use by right. */
    public MemoryBytes ceilings() {
        return ceilings;
    }

    /** All reservations, ordered by their names. */
    public Collection<HeldReservation> reservations() {
        return Collections.unmodifiableCollection(reservations.values());
    }

    public Optional<HeldReservation> reservation(ReservationId id) {
        return Optional.ofNullable(reservations.get(id));
    }

    /** What is kept for the job beyond what its ranks here have: they may take it, and nobody else. */
    public MemoryBytes outstanding(JobId job) {
        return reserved.of(job);
    }

    /** All that is promised: the ceilings, and what is kept for jobs beyond theirs. */
    public MemoryBytes promised() {
        return ceilings.plus(reserved.total());
    }

    /** How far what is promised lies above the budget in force; zero but after {@link RankAdopted}. */
    public MemoryBytes excess() {
        return promised().minusOrZero(inForce.budget());
    }

    /** What may still be promised to anybody: nothing while the wanted budget is smaller than what is promised. */
    public MemoryBytes free() {
        return leastBudget().minusOrZero(promised());
    }

    /**
     * What a rank of the job may still be promised: what is free, and what is kept for the job. On a device that is
     * over its budget a promise to a job is no reason to go further over it.
     */
    public MemoryBytes room(JobId job) {
        return free().plus(outstanding(job)).min(leastBudget().minusOrZero(ceilings));
    }

    /** The budget that both the terms in force and the wanted ones allow. */
    MemoryBytes leastBudget() {
        return wanted.budget().min(inForce.budget());
    }

    /** Whether what is promised does not fit the wanted budget yet: only shrinks are admitted. */
    public boolean isOverBudget() {
        return promised().isMoreThan(wanted.budget());
    }

    /** The orders that no rank has confirmed yet, for the owner to repeat at its own pace. */
    public List<Order> outstandingOrders() {
        return grants.values().stream()
                .filter(Grant::isOutstanding)
                .map(grant -> new Order(
                        grant.instance(), grant.sequence(), grant.target().orElseThrow()))
                .toList();
    }
}
