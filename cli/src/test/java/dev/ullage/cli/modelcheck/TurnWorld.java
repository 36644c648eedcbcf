package dev.ullage.cli.modelcheck;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.common.simulation.ClientModel;
import dev.ullage.common.simulation.ClientModel.InForce;
import dev.ullage.worker.limits.KeeperLogic;
import dev.ullage.worker.limits.KeeperLogic.Decision;
import dev.ullage.worker.turns.TurnAnswer;
import dev.ullage.worker.turns.TurnInput;
import dev.ullage.worker.turns.TurnState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * One device of four units and two jobs of one rank, which take turns: first halves, in force, then a pool of two units
 * beside a limit of one each, then a smaller pool; and within {@link Bounds}, crashes of the worker and askings for a
 * turn. The keeper, the desk and the clients are the production ones, or answer to the same cases. {@link TurnSteps}
 * knows the next states.
 */
final class TurnWorld implements State {
    static final DeviceId DEVICE = new DeviceId("GPU");
    static final Instant NOW = Instant.EPOCH;
    static final List<Plan> PLANS = List.of(new Plan(1, 2, 2, 0), new Plan(2, 1, 1, 2), new Plan(3, 1, 2, 1));
    static final Plan LAST = PLANS.get(PLANS.size() - 1);
    private static final long UNITS = 4;
    private static final CoordinatorToken TOKEN = new CoordinatorToken(1, "c");

    /** One rule of the turns switched off. */
    enum Without {
        NOTHING,
        POOL_KEPT_WHILE_IT_IS_OUT,
        POOL_IN_FORCE_BEFORE_A_TURN,
        SILENCE_AFTER_A_RESTART,
        TURN_KEPT_WHILE_MORE_IS_HELD
    }

    /**
     * How much may happen.
     *
     * @param firstPlan the plan that is in force at the start
     * @param asks of each rank
     */
    record Bounds(int firstPlan, int crashes, int asks, Without without) {}

    /** What a coordinator wants: limits, and a pool of which each rank's burst takes all; 0: none. */
    record Plan(long revision, long first, long second, long pool) {
        Desire desire() {
            return new Desire(TOKEN, Share.NONE, amount(), List.of(limit(0, first), limit(1, second)));
        }

        private Optional<MemoryBytes> amount() {
            return pool == 0 ? Optional.empty() : Optional.of(MemoryBytes.of(pool));
        }

        Optional<TurnPlan> turns() {
            return amount().map(all -> new TurnPlan(
                    all,
                    Stream.of(0, 1)
                            .map(rank -> new RankTurn(instance(rank), List.of(Phase.BACKWARD), all))
                            .toList()));
        }

        long limitOf(int rank) {
            return rank == 0 ? first : second;
        }

        private static DesiredLimit limit(int rank, long units) {
            return new DesiredLimit(instance(rank), PhaseLimits.uniform(MemoryBytes.of(units)), Share.ALL);
        }
    }

    /** Whose turn is over with its phase. */
    private static final class Hasty extends ClientModel {
        @Override
        public boolean endTurn(Optional<MemoryBytes> held) {
            boolean ends = lingers();
            if (ends) {
                dropTurn();
            }
            return ends;
        }

        @Override
        public ClientModel copy() {
            return copyInto(new Hasty());
        }
    }

    final Bounds bounds;
    final List<TurnRank> ranks = new ArrayList<>();
    DeviceLedger ledger;
    TurnState desk = new TurnState();
    int wish = -1;
    int crashesLeft;
    /** What the keeper knows of the desk. */
    MemoryBytes bound = MemoryBytes.ZERO;

    private MemoryBytes out = MemoryBytes.ZERO;

    private TurnWorld(Bounds bounds, DeviceLedger ledger) {
        this.bounds = bounds;
        this.ledger = ledger;
    }

    static TurnWorld initial(Bounds bounds) {
        TurnWorld world = new TurnWorld(
                bounds,
                DeviceLedger.open(new LedgerEvent.Opened(
                        DEVICE, new BudgetTerms(MemoryBytes.of(UNITS), Share.NONE, MemoryBytes.ZERO))));
        world.crashesLeft = bounds.crashes();
        for (int i = 0; i < 2; i++) {
            SmallRank rank = new SmallRank(i);
            if (bounds.without() == Without.TURN_KEPT_WHILE_MORE_IS_HELD) {
                rank.client = new Hasty();
            }
            world.ranks.add(new TurnRank(rank, bounds.asks()));
            world.desk.on(new TurnInput.Said(instance(i), DEVICE, MemoryBytes.ZERO, 0), NOW);
            world.perform(world.keeper().decide(new Join(instance(i), 0, MemoryBytes.ZERO)));
        }
        Plan first = PLANS.get(bounds.firstPlan());
        world.wish = bounds.firstPlan();
        world.perform(world.keeper().desire(first.desire(), first.revision()));
        world.tellDesk(new TurnInput.Planned(DEVICE, first.turns()));
        for (TurnRank rank : world.ranks) {
            rank.client().receive(rank.rank.orders.lastEntry().getValue());
            rank.client().enter(Phase.IDLE);
            rank.settle(0);
            SmallRank.Said said = rank.rank.said.last();
            world.perform(world.keeper()
                    .decide(new Confirm(instance(rank.rank.number), said.sequence(), MemoryBytes.of(said.limit()))));
        }
        world.dropTheVoid();
        return world;
    }

    static RankInstance instance(int rank) {
        return new RankInstance(new RankId(new JobId(rank == 0 ? "a" : "b"), 0), 1L + rank, 1);
    }

    /** Drops messages that change nothing whenever they arrive: the client and the ledger know newer ones. */
    void dropTheVoid() {
        for (TurnRank rank : ranks) {
            rank.rank.orders.headMap(rank.client().newestSequence(), true).clear();
            ledger.grant(instance(rank.rank.number))
                    .ifPresent(grant -> rank.rank.said.removeIf(said -> said.sequence() < grant.confirmedSequence()
                            || (said.sequence() == grant.confirmedSequence()
                                    && said.limit() == grant.ceiling().value())));
        }
    }

    TurnWorld copy() {
        TurnWorld copy = new TurnWorld(bounds, ledger);
        ranks.forEach(rank -> copy.ranks.add(rank.copy()));
        copy.desk = desk.copy();
        copy.wish = wish;
        copy.crashesLeft = crashesLeft;
        copy.bound = bound;
        copy.out = out;
        return copy;
    }

    /** The production keeper in this state. */
    KeeperLogic keeper() {
        KeeperLogic logic = new KeeperLogic(ledger, Duration.ZERO);
        if (wish >= 0) {
            Plan plan = PLANS.get(wish);
            logic.commit(
                    new Decision(List.of(), List.of(), List.of(), Optional.of(plan.desire()), plan.revision()), NOW);
        }
        logic.onBurstBound(out);
        return logic;
    }

    /** As in {@code LimitKeeper}: persisted, sent, and the desk is told what it may give. */
    void perform(Decision decision) {
        carryOut(decision);
        if (!decision.events().isEmpty()) {
            settleBursts();
        }
    }

    void persist(Decision decision) {
        decision.events().forEach(event -> ledger = ledger.apply(event));
    }

    private void carryOut(Decision decision) {
        persist(decision);
        decision.orders().forEach(order -> of(order.instance()).rank.orders.put(order.sequence(), order));
    }

    void settleBursts() {
        for (boolean again = true; again; ) {
            boolean isHasty = bounds.without() == Without.POOL_IN_FORCE_BEFORE_A_TURN;
            MemoryBytes allowed = isHasty ? ledger.wanted().usablePool() : keeper().burstsAllowed();
            tellDesk(new TurnInput.Allowed(DEVICE, allowed));
            bound = desk.bound(DEVICE);
            out = bounds.without() == Without.POOL_KEPT_WHILE_IT_IS_OUT ? allowed : bound;
            Decision decision = keeper().onBurstBound(out);
            again = !decision.events().isEmpty();
            carryOut(decision);
        }
    }

    /** What it answers is on its way to the ranks. */
    void tellDesk(TurnInput input) {
        for (TurnAnswer said : desk.on(input, NOW)) {
            TurnRank rank = of(said.instance());
            if (rank.isWaiting && rank.lastAsk == said.ask()) {
                rank.answer = Optional.of(new TurnRank.Answer(said.ask(), said.burst()));
            }
        }
    }

    private TurnRank of(RankInstance instance) {
        return ranks.get((int) instance.pid() - 1);
    }

    /** The worker's process dies and is back; what is on the disk is all it knows. */
    void crash() {
        crashesLeft--;
        wish = -1;
        out = ledger.inForce().usablePool();
        desk = new TurnState();
        ranks.forEach(TurnRank::disconnect);
        List<RankInstance> granted = bounds.without() == Without.SILENCE_AFTER_A_RESTART
                ? List.of()
                : ledger.grants().stream().map(Grant::instance).toList();
        desk.on(new TurnInput.Replayed(DEVICE, ledger.inForce().usablePool(), granted), NOW);
        settleBursts();
    }

    @Override
    public List<TurnWorld> next() {
        return TurnSteps.from(this);
    }

    @Override
    public Optional<String> broken() {
        long all = 0;
        long turns = 0;
        for (TurnRank rank : ranks) {
            long ceiling = ledger.grant(instance(rank.rank.number))
                    .map(Grant::ceiling)
                    .map(MemoryBytes::value)
                    .orElse(0L);
            if (rank.rank.inForce() > ceiling) {
                return Optional.of("rank " + rank.rank.number + " has more in force than its ceiling");
            }
            all += rank.most();
            turns += rank.client().turn().value();
        }
        long pool = ledger.inForce().usablePool().value();
        if (turns > pool) {
            return Optional.of("turns of " + turns + " are out, the pool in force is " + pool);
        }
        long capacity = ledger.inForce().budget().value() + pool;
        return all > capacity ? Optional.of(all + " may be held, of " + capacity) : Optional.empty();
    }

    @Override
    public boolean isAtRest() {
        boolean hasTerms = ledger.inForce().equals(ledger.wanted())
                && ledger.inForce().usablePool().value() == LAST.pool();
        return hasTerms && ranks.stream().allMatch(this::isAtRest);
    }

    private boolean isAtRest(TurnRank rank) {
        MemoryBytes limit = MemoryBytes.of(LAST.limitOf(rank.rank.number));
        return !rank.isWaiting
                && rank.client().turn().isZero()
                && ledger.grant(instance(rank.rank.number))
                        .filter(grant -> grant.isSettled() && grant.ceiling().equals(limit))
                        .filter(grant ->
                                rank.client().inForce().equals(Optional.of(new InForce(grant.sequence(), limit))))
                        .isPresent();
    }

    @Override
    public String encoded() {
        StringBuilder text = new StringBuilder();
        text.append(wish)
                .append(crashesLeft)
                .append(',')
                .append(bound.value())
                .append(',')
                .append(out.value())
                .append(',')
                .append(ledger.wanted().usablePool().value())
                .append(',')
                .append(ledger.inForce().usablePool().value())
                .append(';');
        for (Grant grant : ledger.grants()) {
            text.append(grant.target().isPresent() ? grant.targetMax().value() : -1)
                    .append(',')
                    .append(grant.sequence())
                    .append(',')
                    .append(grant.confirmedSequence())
                    .append(',')
                    .append(grant.ceiling().value())
                    .append(';');
        }
        text.append(desk.encoded());
        ranks.forEach(rank -> rank.encode(text));
        return text.toString();
    }
}
