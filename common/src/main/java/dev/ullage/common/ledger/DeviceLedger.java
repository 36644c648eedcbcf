package dev.ullage.common.ledger;

import dev.ullage.common.ledger.LedgerEvent.Opened;
import dev.ullage.common.ledger.LedgerEvent.Snapshot;
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
public final class DeviceLedger implements LedgerState {
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

    /** @param grants of that state, like the reservations; neither is changed any more */
    DeviceLedger(
            LedgerFold state,
            NavigableMap<RankInstance, Grant> grants,
            NavigableMap<ReservationId, HeldReservation> reservations) {
        this.device = state.device();
        this.highestToken = state.highestToken();
        this.wanted = state.wanted();
        this.inForce = state.inForce();
        this.grants = grants;
        this.reservations = reservations;
        this.ceilings = state.ceilings();
        this.reserved = state.reserved();
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
        return new LedgerDecider(fold(), out).decide(command);
    }

    /** The state after the event. Throws {@link IllegalStateException} when an invariant would break. */
    public DeviceLedger apply(LedgerEvent event) {
        return apply(List.of(event));
    }

    /** The state after all the events, in their order: the same as one after the other, and one copy of the state. */
    public DeviceLedger apply(List<LedgerEvent> events) {
        if (events.isEmpty()) {
            return this;
        }
        LedgerFold fold = fold();
        events.forEach(fold::apply);
        return fold.freeze();
    }

    private LedgerFold fold() {
        return new LedgerFold(this, grants, reservations, reserved);
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
    public MemoryBytes ceilings() {
        return ceilings;
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
    public MemoryBytes outstanding(JobId job) {
        return reserved.of(job);
    }

    @Override
    public MemoryBytes outstanding() {
        return reserved.total();
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
