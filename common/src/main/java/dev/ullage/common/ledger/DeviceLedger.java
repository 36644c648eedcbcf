package dev.ullage.common.ledger;

import dev.ullage.common.ledger.LedgerEvent.LimitConfirmed;
import dev.ullage.common.ledger.LedgerEvent.LimitOrdered;
import dev.ullage.common.ledger.LedgerEvent.Opened;
import dev.ullage.common.ledger.LedgerEvent.RankAdopted;
import dev.ullage.common.ledger.LedgerEvent.RankJoined;
import dev.ullage.common.ledger.LedgerEvent.RankLeft;
import dev.ullage.common.ledger.LedgerEvent.Snapshot;
import dev.ullage.common.ledger.LedgerEvent.TermsInForce;
import dev.ullage.common.ledger.LedgerEvent.TermsWanted;
import dev.ullage.common.ledger.LedgerEvent.TokenSeen;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
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
 * <p>Invariant: {@code sum(ceiling) <= budget in force}. Ordering a shrink lowers a rank's target and leaves its
 * ceiling; only the rank's confirmation of the latest sequence lowers the ceiling. A grow raises the ceiling at once,
 * so it is admitted only into room that no ceiling claims. Terms (capacity, reserve, foreign memory) that would make
 * the budget smaller than the ceilings are <em>wanted</em> first and come in force when the ceilings fit; until then
 * only shrinks are admitted.
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
    private final MemoryBytes ceilings;

    private DeviceLedger(
            DeviceId device,
            Optional<CoordinatorToken> highestToken,
            BudgetTerms wanted,
            BudgetTerms inForce,
            NavigableMap<RankInstance, Grant> grants) {
        this.device = device;
        this.highestToken = highestToken;
        this.wanted = wanted;
        this.inForce = inForce;
        this.grants = grants;
        this.ceilings = grants.values().stream().map(Grant::ceiling).reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }

    /** The ledger after its first event, which is {@link Opened} or, after compaction, {@link Snapshot}. */
    public static DeviceLedger open(LedgerEvent first) {
        if (first instanceof Opened opened) {
            return new DeviceLedger(opened.device(), Optional.empty(), opened.terms(), opened.terms(), new TreeMap<>());
        }
        if (first instanceof Snapshot snapshot) {
            return ofSnapshot(snapshot);
        }
        throw new IllegalArgumentException("a ledger starts with Opened or Snapshot, not with " + first);
    }

    private static DeviceLedger ofSnapshot(Snapshot snapshot) {
        NavigableMap<RankInstance, Grant> grants = new TreeMap<>();
        snapshot.grants().forEach(grant -> grants.put(grant.instance(), grant));
        return new DeviceLedger(
                snapshot.device(), snapshot.highestToken(), snapshot.wanted(), snapshot.inForce(), grants);
    }

    /** The state as one event, for compaction. */
    public Snapshot snapshot() {
        return new Snapshot(device, highestToken, wanted, inForce, List.copyOf(grants.values()));
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
            return new DeviceLedger(device, Optional.of(seen.token()), wanted, inForce, grants);
        }
        if (event instanceof TermsWanted terms) {
            return new DeviceLedger(device, highestToken, terms.terms(), inForce, grants);
        }
        if (event instanceof TermsInForce) {
            return new DeviceLedger(device, highestToken, wanted, wanted, grants);
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
            return new DeviceLedger(device, highestToken, wanted, inForce, rest);
        }
        if (event instanceof Snapshot snapshot) {
            return ofSnapshot(snapshot);
        }
        throw new IllegalArgumentException("only a ledger's first event may be " + event);
    }

    private DeviceLedger changing(RankInstance instance, UnaryOperator<Grant> change) {
        Grant grant = grant(instance)
                .orElseThrow(() -> new IllegalStateException("no grant of " + instance + " on " + device));
        return with(change.apply(grant));
    }

    private DeviceLedger with(Grant grant) {
        NavigableMap<RankInstance, Grant> changed = new TreeMap<>(grants);
        changed.put(grant.instance(), grant);
        return new DeviceLedger(device, highestToken, wanted, inForce, changed);
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

    /** How far the ceilings lie above the budget in force; zero but after {@link RankAdopted}. */
    public MemoryBytes excess() {
        return ceilings.minusOrZero(inForce.budget());
    }

    /** What may still be promised: nothing while the wanted budget is smaller than the ceilings. */
    public MemoryBytes free() {
        return wanted.budget().min(inForce.budget()).minusOrZero(ceilings);
    }

    /** Whether the ceilings do not fit the wanted budget yet: only shrinks are admitted. */
    public boolean isOverBudget() {
        return ceilings.isMoreThan(wanted.budget());
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
