package dev.ullage.cli.modelcheck;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.LedgerEvent.LimitConfirmed;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.simulation.ClientModel.InForce;
import dev.ullage.worker.limits.KeeperLogic;
import dev.ullage.worker.limits.KeeperLogic.Decision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One device of five units, two ranks, two coordinators with their plans; and within {@link Bounds}, crashes of the
 * worker, the death of a rank, a unit of foreign memory that comes and goes. Every message may arrive at any time, and
 * at any number of times. A world is one state; {@link Steps} knows the next ones.
 */
final class SmallWorld implements State {
    static final int RANKS = 2;
    static final long UNITS = 5;

    /** The plans, oldest first; only the last fits whatever the foreign memory is. */
    static final List<Plan> PLANS = List.of(
            new Plan(1, 1, Share.NONE, 4, 1),
            new Plan(1, 2, Share.NONE, 1, 4),
            new Plan(2, 1, Share.ofPercent(20), 1, 3),
            new Plan(2, 2, Share.ofPercent(20), 2, 1));

    static final Plan LAST = PLANS.get(PLANS.size() - 1);
    private static final Instant NOW = Instant.EPOCH;
    private static final JobId JOB = new JobId("job");

    DeviceLedger ledger;
    final Bounds bounds;
    int wish = -1;
    int crashesLeft;
    int deathsLeft;
    int foreignChangesLeft;
    long foreign;
    final List<SmallRank> ranks = new ArrayList<>();

    /**
     * How much may happen.
     *
     * @param firstPlan plans before this one are left out
     * @param countsShrinksAtOnce the mutant: a ceiling falls with the order, not with the confirmation
     */
    record Bounds(int firstPlan, int crashes, int deaths, int foreignChanges, boolean countsShrinksAtOnce) {}

    /** What a coordinator wants of the device. */
    record Plan(long epoch, long revision, Share reserve, long first, long second) {
        Desire desire() {
            return new Desire(token(), reserve, List.of(limit(0, first), limit(1, second)));
        }

        CoordinatorToken token() {
            return new CoordinatorToken(epoch, "c");
        }

        long limitOf(int rank) {
            return rank == 0 ? first : second;
        }

        private static DesiredLimit limit(int rank, long units) {
            return new DesiredLimit(instance(rank), PhaseLimits.uniform(MemoryBytes.of(units)), Share.ALL);
        }
    }

    private SmallWorld(Bounds bounds, DeviceLedger ledger) {
        this.bounds = bounds;
        this.ledger = ledger;
    }

    static SmallWorld initial(Bounds bounds) {
        SmallWorld world = new SmallWorld(
                bounds,
                DeviceLedger.open(new LedgerEvent.Opened(
                        new DeviceId("GPU"), new BudgetTerms(MemoryBytes.of(UNITS), Share.NONE, MemoryBytes.ZERO))));
        world.crashesLeft = bounds.crashes();
        world.deathsLeft = bounds.deaths();
        world.foreignChangesLeft = bounds.foreignChanges();
        for (int i = 0; i < RANKS; i++) {
            world.ranks.add(new SmallRank(i));
            world.apply(world.keeper().decide(new Join(instance(i), 0, MemoryBytes.ZERO)));
        }
        return world;
    }

    static RankInstance instance(int rank) {
        return new RankInstance(new RankId(JOB, rank), 1L + rank, 1);
    }

    SmallWorld copy() {
        SmallWorld copy = new SmallWorld(bounds, ledger);
        copy.wish = wish;
        copy.crashesLeft = crashesLeft;
        copy.deathsLeft = deathsLeft;
        copy.foreignChangesLeft = foreignChangesLeft;
        copy.foreign = foreign;
        ranks.forEach(rank -> copy.ranks.add(rank.copy()));
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
        return logic;
    }

    Decision decide(LedgerCommand command) {
        return keeper().decide(command);
    }

    Decision decide(Plan plan) {
        return keeper().desire(plan.desire(), plan.revision());
    }

    /** Persisted and part of the state; nothing is sent yet. */
    void apply(Decision decision) {
        for (LedgerEvent event : decision.events()) {
            ledger = ledger.apply(event);
        }
        if (bounds.countsShrinksAtOnce()) {
            ledger.grants().stream()
                    .filter(grant -> grant.ceiling().isMoreThan(grant.targetMax()))
                    .map(grant -> new LimitConfirmed(grant.instance(), grant.confirmedSequence(), grant.targetMax()))
                    .toList()
                    .forEach(confirmed -> ledger = ledger.apply(confirmed));
        }
    }

    void send(Decision decision) {
        decision.orders()
                .forEach(order ->
                        ranks.get(order.instance().rank().rank()).orders.put(order.sequence(), order));
    }

    /** The worker's process dies and is back; what is on the disk is all it knows. */
    void crash() {
        crashesLeft--;
        wish = -1;
        ranks.forEach(SmallRank::disconnect);
    }

    // ---- what must hold

    @Override
    public Optional<String> broken() {
        long sum = 0;
        for (SmallRank rank : ranks) {
            long ceiling = ledger.grant(instance(rank.number))
                    .map(Grant::ceiling)
                    .map(MemoryBytes::value)
                    .orElse(0L);
            if (rank.isAlive && rank.inForce() > ceiling) {
                return Optional.of("rank " + rank.number + " has more in force than its ceiling");
            }
            sum += rank.isAlive ? rank.inForce() : 0;
        }
        if (sum > ledger.inForce().budget().value()) {
            return Optional.of(
                    sum + " in force, budget " + ledger.inForce().budget().value());
        }
        return ledger.excess().isZero() ? Optional.empty() : Optional.of("the ledger is over its budget");
    }

    /** The last plan is all there is: in force, confirmed, and of the dead nothing is left. */
    @Override
    public boolean isAtRest() {
        boolean hasTerms = ledger.inForce().equals(ledger.wanted())
                && ledger.inForce().reserve().equals(LAST.reserve())
                && ledger.highestToken().equals(Optional.of(LAST.token()));
        return hasTerms && ranks.stream().allMatch(this::isAtRest);
    }

    private boolean isAtRest(SmallRank rank) {
        Optional<Grant> grant = ledger.grant(instance(rank.number));
        if (!rank.isAlive) {
            return grant.isEmpty();
        }
        long limit = LAST.limitOf(rank.number);
        return grant.isPresent()
                && grant.get().isSettled()
                && grant.get().ceiling().value() == limit
                && rank.client
                        .inForce()
                        .filter(now -> now.equals(new InForce(grant.get().sequence(), MemoryBytes.of(limit))))
                        .isPresent();
    }

    @Override
    public List<SmallWorld> next() {
        return Steps.from(this);
    }

    @Override
    public String encoded() {
        StringBuilder text = new StringBuilder();
        text.append(wish)
                .append(crashesLeft)
                .append(deathsLeft)
                .append(foreignChangesLeft)
                .append(foreign);
        ledger.highestToken().ifPresent(token -> text.append('t').append(token.epoch()));
        encode(text, ledger.wanted());
        encode(text, ledger.inForce());
        for (Grant grant : ledger.grants()) {
            text.append(grant.instance().pid())
                    .append(':')
                    .append(grant.target().isPresent() ? grant.targetMax().value() : -1)
                    .append(',')
                    .append(grant.sequence())
                    .append(',')
                    .append(grant.confirmedSequence())
                    .append(',')
                    .append(grant.ceiling().value())
                    .append(';');
        }
        ranks.forEach(rank -> rank.encode(text));
        return text.toString();
    }

    private static void encode(StringBuilder text, BudgetTerms terms) {
        text.append('b')
                .append(terms.reserve().basisPoints() / 100)
                .append(',')
                .append(terms.foreign().value());
    }
}
