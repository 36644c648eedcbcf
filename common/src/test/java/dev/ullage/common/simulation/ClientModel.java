package dev.ullage.common.simulation;

import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rank client's state machine: {@code python/ullage/state.py}, method for method. Both answer to the cases in
 * {@code rank-client-cases.json}. Not final, so that a mutant may break a rule.
 */
@SuppressWarnings("ReferenceEquality") // whether an order is the very one that was applied, as in Python
public class ClientModel {
    private Phase phase = Phase.INIT;
    private final Optional<RankInstance> self;
    private @Nullable Order newest;
    private @Nullable Order applied;
    private @Nullable InForce inForce;
    private @Nullable MemoryBytes phaseLimit;
    private boolean resumed;
    private MemoryBytes turn = MemoryBytes.ZERO;
    private Set<Phase> turnPhases = Set.of();

    /** What is in force: the order's sequence, and the most the process may use in any phase. */
    public record InForce(long sequence, MemoryBytes limit) {}

    /**
     * What a safe point is to do: set {@code phaseLimit}, then commit; {@code inForce} is what will hold afterwards.
     */
    public record Plan(long sequence, Phase phase, MemoryBytes phaseLimit, InForce inForce) {}

    /** What an arriving order was. */
    public enum Receipt {
        NEW,
        REPEATED,
        STALE
    }

    /** A process that was never given a limit. */
    public ClientModel() {
        this(Optional.empty());
    }

    private ClientModel(Optional<RankInstance> self) {
        this.self = self;
    }

    /** A process that was given a limit before an exec; the limits of each phase were not passed on. */
    public ClientModel(RankInstance instance, InForce before) {
        self = Optional.of(instance);
        inForce = before;
        newest = resume(before);
        phaseLimit = before.limit();
    }

    private Order resume(InForce before) {
        resumed = true;
        return new Order(self.orElseThrow(), before.sequence(), PhaseLimits.uniform(before.limit()));
    }

    public Phase phase() {
        return phase;
    }

    public Optional<InForce> inForce() {
        return Optional.ofNullable(inForce);
    }

    /** The limit in force in the current phase; empty when there was never one. */
    public Optional<MemoryBytes> limit() {
        return Optional.ofNullable(phaseLimit);
    }

    /** 0 when no order is known. */
    public long newestSequence() {
        return newest == null ? 0 : newest.sequence();
    }

    /** The limit of each phase by what is in force. */
    public Optional<PhaseLimits> limits() {
        InForce now = inForce;
        if (now == null) {
            return Optional.empty();
        }
        Order order = applied;
        return Optional.of(
                order == null
                        ? PhaseLimits.uniform(now.limit())
                        : PhaseLimits.of(one -> order.limits().in(one).min(now.limit())));
    }

    /** Whether the newest order is not in force yet, or only in part because more is held than it allows. */
    public boolean isPending() {
        if (newest == null) {
            return false;
        }
        return newest != applied
                || inForce == null
                || inForce.limit().isMoreThan(newest.limits().max());
    }

    /** Whether the next safe point has anything to do: an order, or this phase's own limit. */
    public boolean needsSettling() {
        return isPending() || !limit().equals(target()) || lingers();
    }

    /** What a turn adds to what is in force; zero without one. */
    public MemoryBytes turn() {
        return turn;
    }

    /** Whether it has a turn outside of the phases it was given for: it is to end it as soon as it can. */
    public boolean lingers() {
        return !turn.isZero() && !turnPhases.contains(phase);
    }

    /** The worker gave a turn: so much on top in these phases, from the next commit on. */
    public void takeTurn(MemoryBytes bytes, Set<Phase> phases) {
        turn = bytes;
        turnPhases = phases;
    }

    /** Gives the turn up, unless its phase lasts, or more is held or allowed than may be without. */
    public boolean endTurn(Optional<MemoryBytes> held) {
        MemoryBytes most = inForce == null ? MemoryBytes.ZERO : inForce.limit();
        MemoryBytes allowed = limit().orElse(MemoryBytes.ZERO);
        if (!lingers()
                || allowed.isMoreThan(most)
                || held.filter(bytes -> bytes.isMoreThan(most)).isPresent()) {
            return false;
        }
        dropTurn();
        return true;
    }

    /** Without asking whether it may. */
    protected final void dropTurn() {
        turn = MemoryBytes.ZERO;
    }

    public void enter(Phase next) {
        phase = next;
    }

    /** Takes an order in. The highest sequence wins; within one sequence the first order does. */
    public Receipt receive(Order order) {
        if (order.sequence() < newestSequence()) {
            return Receipt.STALE;
        }
        if (order.sequence() == newestSequence() && !resumed) {
            return Receipt.REPEATED;
        }
        accept(order);
        return Receipt.NEW;
    }

    /** A new connection: an order not in force yet came from a worker that may not know of it any more. */
    public void forgetPending() {
        if (applied != null) {
            newest = applied;
        } else {
            newest = inForce == null ? null : resume(inForce);
        }
    }

    /** Makes an order the newest one. */
    protected final void accept(Order order) {
        newest = order;
        resumed = false;
    }

    /** What the newest order allows in the current phase; empty when there is no order. */
    public Optional<MemoryBytes> target() {
        if (newest == null) {
            return Optional.empty();
        }
        MemoryBytes limit = newest.limits().in(phase);
        MemoryBytes without =
                isOfNewest(inForce) ? limit.min(inForce().orElseThrow().limit()) : limit;
        return Optional.of(lingers() ? without : without.plus(turn));
    }

    private boolean isOfNewest(@Nullable InForce now) {
        return now != null && now.sequence() == newestSequence();
    }

    /** What to set and confirm when the allocator holds {@code held} (empty: not known); empty without an order. */
    public Optional<Plan> plan(Optional<MemoryBytes> held) {
        Order order = newest;
        if (order == null) {
            return Optional.empty();
        }
        MemoryBytes total = held.orElse(MemoryBytes.ZERO);
        MemoryBytes holds = total.minusOrZero(turn);
        MemoryBytes floor = inForce == null ? holds : holds.min(inForce.limit());
        MemoryBytes most = order.limits().max().max(floor);
        if (inForce != null && isOfNewest(inForce)) {
            most = most.min(inForce.limit());
        }
        MemoryBytes without = order.limits().in(phase).max(floor).min(most);
        MemoryBytes inPhase = lingers() ? without.max(total.min(most.plus(turn))) : without.plus(turn);
        return Optional.of(new Plan(order.sequence(), phase, inPhase, new InForce(order.sequence(), most)));
    }

    /** Puts the plan in force. Returns whether the worker is to be told. */
    public boolean commit(Plan plan) {
        if (newest == null || plan.sequence() != newest.sequence() || plan.phase() != phase) {
            throw new IllegalStateException(
                    plan + " is not of the newest order " + newestSequence() + " in phase " + phase);
        }
        boolean tell = newest != applied || !plan.inForce().equals(inForce);
        applied = newest;
        inForce = plan.inForce();
        phaseLimit = plan.phaseLimit();
        return tell;
    }

    /** An equal machine that goes its own way from here. */
    public ClientModel copy() {
        return copyInto(new ClientModel(self));
    }

    /** Makes another machine equal to this one, but for rules that it breaks. */
    protected final ClientModel copyInto(ClientModel copy) {
        copy.phase = phase;
        copy.newest = newest;
        copy.applied = applied;
        copy.inForce = inForce;
        copy.phaseLimit = phaseLimit;
        copy.resumed = resumed;
        copy.turn = turn;
        copy.turnPhases = turnPhases;
        return copy;
    }

    /** All of the state, as text: two machines with the same text behave the same. */
    public String encoded() {
        return phase.name()
                + ":" + encoded(newest)
                + (newest == applied ? "=" : "/" + encoded(applied))
                + (inForce == null
                        ? "-"
                        : inForce.sequence() + "," + inForce.limit().value())
                + (phaseLimit == null ? "-" : phaseLimit.value())
                + (resumed ? "r" : "")
                + (turn.isZero() ? "" : "t" + turn.value());
    }

    private static String encoded(@Nullable Order order) {
        return order == null
                ? "-"
                : order.sequence() + "," + order.limits().max().value() + ";";
    }
}
