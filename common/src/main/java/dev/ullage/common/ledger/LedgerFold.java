package dev.ullage.common.ledger;

import dev.ullage.common.ledger.LedgerEvent.LimitConfirmed;
import dev.ullage.common.ledger.LedgerEvent.LimitOrdered;
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
import dev.ullage.common.ledger.LedgerInvariants.Excess;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.ReservationId;
import java.util.Collection;
import java.util.Collections;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * A ledger's state while events are applied to it, one after the other: the one place that says what an event does.
 * Many events cost one copy, and each what it changes. Mutable, for one decision or one replay; what it began with is
 * not changed, nor what it {@linkplain #freeze froze}.
 */
final class LedgerFold implements LedgerState {
    private DeviceId device;
    private Optional<CoordinatorToken> highestToken;
    private BudgetTerms wanted;
    private BudgetTerms inForce;
    private NavigableMap<RankInstance, Grant> grants;
    private NavigableMap<ReservationId, HeldReservation> reservations;
    private MemoryBytes ceilings;
    private ReservedRoom reserved;
    /** Whether the two maps are a ledger's, too, and are to be copied before they change. */
    private boolean areGrantsShared = true;

    private boolean areReservationsShared = true;
    /** Whether all grants were looked at; from then on those that an event changes. */
    private boolean areGrantsChecked;

    /** @param grants of a ledger, like the reservations: not changed here */
    LedgerFold(
            DeviceLedger start,
            NavigableMap<RankInstance, Grant> grants,
            NavigableMap<ReservationId, HeldReservation> reservations,
            ReservedRoom reserved) {
        this.device = start.device();
        this.highestToken = start.highestToken();
        this.wanted = start.wanted();
        this.inForce = start.inForce();
        this.grants = grants;
        this.reservations = reservations;
        this.ceilings = start.ceilings();
        this.reserved = reserved;
    }

    /** What the events have come to. */
    DeviceLedger freeze() {
        areGrantsShared = true;
        areReservationsShared = true;
        return new DeviceLedger(this, grants, reservations);
    }

    /** Throws {@link IllegalStateException} when an invariant would break; then this is of no use any more. */
    void apply(LedgerEvent event) {
        Excess before = Excess.of(this);
        applyUnchecked(event);
        before.requireNoMore(event, this);
        if (!areGrantsChecked) {
            grants.values().forEach(grant -> LedgerInvariants.requireConsistent(grant, event));
            areGrantsChecked = true;
        }
    }

    private void applyUnchecked(LedgerEvent event) {
        if (event instanceof TokenSeen seen) {
            highestToken = Optional.of(seen.token());
        } else if (event instanceof TermsWanted terms) {
            wanted = terms.terms();
        } else if (event instanceof TermsInForce) {
            inForce = wanted;
        } else if (event instanceof RankJoined joined) {
            put(Grant.joined(joined.instance(), 0, MemoryBytes.ZERO), event);
        } else if (event instanceof RankAdopted adopted) {
            Grant after = grant(adopted.instance())
                    .map(grant -> grant.adopted(adopted.sequence(), adopted.ceiling()))
                    .orElseGet(() -> Grant.joined(adopted.instance(), adopted.sequence(), adopted.ceiling()));
            put(after, event);
        } else if (event instanceof LimitOrdered ordered) {
            change(
                    ordered.instance(),
                    grant -> grant.ordered(ordered.sequence(), ordered.limits(), ordered.share()),
                    event);
        } else if (event instanceof LimitConfirmed confirmed) {
            change(confirmed.instance(), grant -> grant.confirmed(confirmed.sequence(), confirmed.ceiling()), event);
        } else if (event instanceof RankLeft left) {
            moved(Optional.ofNullable(ownGrants().remove(left.instance())), Optional.empty());
        } else if (event instanceof Snapshot snapshot) {
            become(snapshot);
        } else {
            applyToReservations(event);
        }
    }

    private void applyToReservations(LedgerEvent event) {
        if (event instanceof ReservationMade made) {
            HeldReservation held = new HeldReservation(made.reservation(), false);
            ownReservations().put(held.id(), held);
        } else if (event instanceof ReservationCommitted committed) {
            HeldReservation held = reservation(committed.id())
                    .orElseThrow(() -> new IllegalStateException("no reservation " + committed.id() + " on " + device));
            ownReservations().put(held.id(), held.kept());
        } else if (event instanceof ReservationReleased released) {
            ownReservations().remove(released.id());
        } else if (event instanceof ReservationExpired expired) {
            ownReservations().remove(expired.id());
        } else {
            throw new IllegalArgumentException("only a ledger's first event may be " + event);
        }
        reserved = ReservedRoom.of(device, reservations.values(), grants.values());
    }

    /** The whole state is another: whatever was before counts for nothing. */
    private void become(Snapshot snapshot) {
        DeviceLedger other = DeviceLedger.open(snapshot);
        device = other.device();
        highestToken = other.highestToken();
        wanted = other.wanted();
        inForce = other.inForce();
        grants = new TreeMap<>();
        other.grants().forEach(grant -> grants.put(grant.instance(), grant));
        areGrantsShared = false;
        areGrantsChecked = false;
        reservations = new TreeMap<>();
        other.reservations().forEach(held -> reservations.put(held.id(), held));
        areReservationsShared = false;
        ceilings = other.ceilings();
        reserved = ReservedRoom.of(device, reservations.values(), grants.values());
    }

    private void change(RankInstance instance, UnaryOperator<Grant> change, LedgerEvent event) {
        Grant grant = grant(instance)
                .orElseThrow(() -> new IllegalStateException("no grant of " + instance + " on " + device));
        put(change.apply(grant), event);
    }

    private void put(Grant grant, LedgerEvent event) {
        LedgerInvariants.requireConsistent(grant, event);
        moved(Optional.ofNullable(ownGrants().put(grant.instance(), grant)), Optional.of(grant));
    }

    private void moved(Optional<Grant> before, Optional<Grant> after) {
        MemoryBytes from = before.map(Grant::ceiling).orElse(MemoryBytes.ZERO);
        MemoryBytes to = after.map(Grant::ceiling).orElse(MemoryBytes.ZERO);
        ceilings = ceilings.minus(from).plus(to);
        Optional<Grant> either = after.or(() -> before);
        if (either.isPresent() && !from.equals(to)) {
            reserved = reserved.moved(either.get().instance().rank().job(), from, to);
        }
    }

    private NavigableMap<RankInstance, Grant> ownGrants() {
        if (areGrantsShared) {
            grants = new TreeMap<>(grants);
            areGrantsShared = false;
        }
        return grants;
    }

    private NavigableMap<ReservationId, HeldReservation> ownReservations() {
        if (areReservationsShared) {
            reservations = new TreeMap<>(reservations);
            areReservationsShared = false;
        }
        return reservations;
    }

    @Override
    public DeviceId device() {
        return device;
    }

    @Override
    public Optional<CoordinatorToken> highestToken() {
        return highestToken;
    }

    @Override
    public BudgetTerms wanted() {
        return wanted;
    }

    @Override
    public BudgetTerms inForce() {
        return inForce;
    }

    @Override
    public Collection<Grant> grants() {
        return Collections.unmodifiableCollection(grants.values());
    }

    @Override
    public Optional<Grant> grant(RankInstance instance) {
        return Optional.ofNullable(grants.get(instance));
    }

    @Override
    public Collection<HeldReservation> reservations() {
        return Collections.unmodifiableCollection(reservations.values());
    }

    @Override
    public Optional<HeldReservation> reservation(ReservationId id) {
        return Optional.ofNullable(reservations.get(id));
    }

    @Override
    public MemoryBytes ceilings() {
        return ceilings;
    }

    @Override
    public MemoryBytes outstanding(JobId job) {
        return reserved.of(job);
    }

    @Override
    public MemoryBytes outstanding() {
        return reserved.total();
    }

    /** For the ledger that this becomes. */
    ReservedRoom reserved() {
        return reserved;
    }
}
