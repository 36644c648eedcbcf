package dev.ullage.common.ledger;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.rank;
import static dev.ullage.common.testing.Fixtures.token;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.ledger.LedgerCommand.Acknowledge;
import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.LedgerCommand.Leave;
import dev.ullage.common.ledger.LedgerCommand.Measure;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Share;
import dev.ullage.common.testing.LedgerOwner;
import dev.ullage.common.testing.ModelRank;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/**
 * Random histories of one device. Amounts are small numbers of bytes so that the bounds are met often: 100 bytes, of
 * which 80 may be promised. A device has four ranks whose messages are lost, repeated and reordered
 * ({@link ModelRank}).
 */
class LedgerPropertyTest {
    private static final int RANKS = 4;

    private enum Kind {
        LEARN,
        DESIRE_ALL,
        DESIRE_ONE,
        MEASURE,
        HELLO,
        RECEIVE,
        SAFE_POINT,
        CONFIRM,
        LEAVE,
        RESTART
    }

    /** One thing that happens; what the numbers mean depends on the kind. */
    private record Step(Kind kind, int rank, int amount, int pick) {}

    @Provide
    Arbitrary<Step> steps() {
        return Combinators.combine(
                        kinds(),
                        Arbitraries.integers().between(0, RANKS - 1),
                        Arbitraries.integers().between(0, 100),
                        Arbitraries.integers().between(0, 1000))
                .as(Step::new);
    }

    /** Mostly plans and what they cause, so that histories reach the states in which orders overtake each other. */
    private static Arbitrary<Kind> kinds() {
        return Arbitraries.frequency(
                Tuple.of(1, Kind.LEARN),
                Tuple.of(2, Kind.DESIRE_ALL),
                Tuple.of(6, Kind.DESIRE_ONE),
                Tuple.of(1, Kind.MEASURE),
                Tuple.of(1, Kind.HELLO),
                Tuple.of(6, Kind.RECEIVE),
                Tuple.of(6, Kind.SAFE_POINT),
                Tuple.of(6, Kind.CONFIRM),
                Tuple.of(1, Kind.LEAVE),
                Tuple.of(1, Kind.RESTART));
    }

    /** A device, its ranks, and what lies between them. */
    private static final class World {
        private final List<ModelRank> ranks = new ArrayList<>();
        private LedgerOwner owner = LedgerOwner.of(aDevice().withCapacity(MemoryBytes.of(100)));
        private int processes;

        World() {
            for (int i = 0; i < RANKS; i++) {
                ranks.add(newProcess(i));
                on(ranks.get(i).hello());
            }
        }

        private ModelRank newProcess(int number) {
            return new ModelRank(rank(number, 100 + ++processes));
        }

        LedgerDecision on(LedgerCommand command) {
            LedgerDecision decision = owner.on(command);
            for (Order order : decision.orders()) {
                for (ModelRank rank : ranks) {
                    if (rank.instance().equals(order.instance())) {
                        rank.send(order);
                    }
                }
            }
            return decision;
        }

        void happens(Step step) {
            ModelRank rank = ranks.get(step.rank());
            switch (step.kind()) {
                case LEARN -> on(new Acknowledge(token(1 + step.pick() % 9)));
                case DESIRE_ALL -> on(desireAll(step));
                case DESIRE_ONE -> on(desire(step, List.of(limit(rank, step.amount()))));
                case MEASURE -> on(new Measure(MemoryBytes.of(100 + step.amount()), MemoryBytes.of(step.pick() % 90)));
                case HELLO -> on(rank.hello());
                case RECEIVE -> rank.receive(step.pick());
                case SAFE_POINT -> rank.reachSafePoint(MemoryBytes.of(step.amount()));
                case CONFIRM -> rank.confirmation(step.pick()).forEach(this::on);
                case LEAVE -> {
                    on(new Leave(rank.instance()));
                    ranks.set(step.rank(), newProcess(step.rank()));
                    on(ranks.get(step.rank()).hello());
                }
                case RESTART -> owner = restarted();
            }
        }

        private Desire desireAll(Step step) {
            List<DesiredLimit> limits = new ArrayList<>();
            for (int i = 0; i < RANKS; i++) {
                limits.add(limit(ranks.get(i), (step.amount() * (i + 1) + step.pick()) % 70));
            }
            Collections.shuffle(limits, new Random(step.pick()));
            return desire(step, limits);
        }

        /** From the coordinator it obeys, or now and then from one that was replaced. */
        private Desire desire(Step step, List<DesiredLimit> limits) {
            CoordinatorToken newest = owner.ledger().highestToken().orElse(token(1));
            CoordinatorToken used = step.pick() % 10 == 0 ? token(1) : newest;
            return new Desire(used, Share.ofPercent(step.pick() % 7 * 10), limits);
        }

        private static DesiredLimit limit(ModelRank rank, int amount) {
            PhaseLimits limits = PhaseLimits.of(phase -> MemoryBytes.of(phase == Phase.IDLE ? amount / 2 : amount));
            return new DesiredLimit(rank.instance(), limits, Share.ALL);
        }

        /** A worker that starts again: from all events, or from the snapshot that compaction left of them. */
        private LedgerOwner restarted() {
            DeviceLedger replayed = LedgerOwner.replayed(owner.events());
            assertThat(replayed.snapshot()).isEqualTo(owner.ledger().snapshot());
            DeviceLedger compacted = DeviceLedger.open(replayed.snapshot());
            assertThat(compacted.snapshot()).isEqualTo(replayed.snapshot());
            compacted.outstandingOrders().forEach(order -> ranks.stream()
                    .filter(rank -> rank.instance().equals(order.instance()))
                    .forEach(rank -> rank.send(order)));
            return owner;
        }
    }

    @Property(tries = 3000)
    void promisesAlwaysFitTheBudgetInForceAndCoverWhatEveryRankMayBelieve(@ForAll("histories") List<Step> history) {
        World world = new World();
        for (Step step : history) {
            world.happens(step);
            DeviceLedger ledger = world.owner.ledger();
            MemoryBytes budget = ledger.inForce().budget();
            assertThat(ledger.ceilings()).as("ceilings after %s", step).isLessThanOrEqualTo(budget);
            assertThat(ledger.excess()).isEqualTo(MemoryBytes.ZERO);
            MemoryBytes inForce =
                    world.ranks.stream().map(ModelRank::inForce).reduce(MemoryBytes.ZERO, MemoryBytes::plus);
            assertThat(inForce).as("in force after %s", step).isLessThanOrEqualTo(budget);
            for (ModelRank rank : world.ranks) {
                MemoryBytes ceiling =
                        ledger.grant(rank.instance()).map(Grant::ceiling).orElse(MemoryBytes.ZERO);
                assertThat(ceiling).as("ceiling after %s", step).isGreaterThanOrEqualTo(rank.belief());
            }
        }
    }

    @Provide
    Arbitrary<List<Step>> histories() {
        return steps().list().ofMinSize(20).ofMaxSize(150);
    }

    @Property
    void anythingThatHappensTwiceInARowChangesTheLedgerOnce(@ForAll("histories") List<Step> history) {
        World world = new World();
        for (Step step : history) {
            world.happens(step);
            DeviceLedger once = world.owner.ledger();
            if (step.kind() != Kind.CONFIRM && step.kind() != Kind.LEAVE) {
                world.happens(step);
                assertThat(world.owner.ledger().snapshot())
                        .as("after %s twice", step)
                        .isEqualTo(once.snapshot());
            }
        }
    }

    @Property
    void theSameLedgerAndCommandComeToTheSameDecision(
            @ForAll @Size(max = 40) List<@From("commands") LedgerCommand> commands) {
        LedgerOwner owner = LedgerOwner.of(aDevice().withCapacity(MemoryBytes.of(100)));
        for (LedgerCommand command : commands) {
            LedgerDecision again = DeviceLedger.open(owner.ledger().snapshot()).decide(command);
            assertThat(owner.on(command)).isEqualTo(again);
        }
    }

    @Property
    void whateverIsSaidOnlyAnAdoptionRaisesTheExcess(
            @ForAll @Size(max = 60) List<@From("commands") LedgerCommand> commands) {
        LedgerOwner owner = LedgerOwner.of(aDevice().withCapacity(MemoryBytes.of(100)));
        for (LedgerCommand command : commands) {
            MemoryBytes before = owner.ledger().excess();
            LedgerDecision decision = owner.on(command);
            boolean adopts = decision.events().stream().anyMatch(LedgerEvent.RankAdopted.class::isInstance);
            if (!adopts) {
                assertThat(owner.ledger().excess()).isLessThanOrEqualTo(before);
            }
            assertThat(owner.on(command).events()).as("%s again", command).isEmpty();
        }
        assertThat(LedgerOwner.replayed(owner.events()).snapshot())
                .isEqualTo(owner.ledger().snapshot());
    }

    /** Any command at all, also such as no rank that keeps to the protocol would cause. */
    @Provide
    Arbitrary<LedgerCommand> commands() {
        Arbitrary<MemoryBytes> amounts = Arbitraries.longs().between(0, 120).map(MemoryBytes::of);
        Arbitrary<Integer> numbers = Arbitraries.integers().between(0, RANKS - 1);
        Arbitrary<Long> sequences = Arbitraries.longs().between(0, 6);
        Arbitrary<DesiredLimit> limits = Combinators.combine(numbers, amounts)
                .as((number, amount) -> new DesiredLimit(rank(number), PhaseLimits.uniform(amount), Share.ALL));
        Arbitrary<LedgerCommand> desires = Combinators.combine(
                        Arbitraries.longs().between(1, 3),
                        Arbitraries.integers().between(0, 10_000),
                        limits.list().ofMaxSize(6))
                .as((epoch, reserve, list) -> new Desire(token(epoch), new Share(reserve), list));
        Arbitrary<LedgerCommand> measures =
                Combinators.combine(amounts, amounts).as(Measure::new);
        Arbitrary<LedgerCommand> joins = Combinators.combine(numbers, sequences, amounts)
                .as((number, sequence, amount) -> new Join(rank(number), sequence, amount));
        Arbitrary<LedgerCommand> confirms = Combinators.combine(numbers, sequences, amounts)
                .as((number, sequence, amount) -> new Confirm(rank(number), sequence, amount));
        Arbitrary<LedgerCommand> leaves = numbers.map(number -> new Leave(rank(number)));
        return Arbitraries.oneOf(List.of(desires, measures, joins, confirms, leaves));
    }

    @Property
    void confirmationsOfDifferentRanksMayComeInAnyOrder(
            @ForAll @Size(RANKS) List<@IntRange(max = 20) Integer> targets,
            @ForAll @IntRange(max = 10_000) int reserve,
            @ForAll Random random) {
        World world = new World();
        world.ranks.forEach(rank -> world.on(rank.hello()));
        world.ranks.forEach(rank -> world.on(desireTwenty(rank)));
        world.ranks.forEach(rank -> world.on(new Confirm(rank.instance(), 1, MemoryBytes.of(20))));
        List<DesiredLimit> limits = new ArrayList<>();
        List<LedgerCommand> confirms = new ArrayList<>();
        for (int i = 0; i < RANKS; i++) {
            limits.add(World.limit(world.ranks.get(i), targets.get(i)));
        }
        world.on(new Desire(token(1), new Share(reserve), limits));
        world.owner
                .ledger()
                .outstandingOrders()
                .forEach(order -> confirms.add(new Confirm(
                        order.instance(), order.sequence(), order.limits().max())));
        DeviceLedger before = world.owner.ledger();

        List<LedgerCommand> shuffled = new ArrayList<>(confirms);
        Collections.shuffle(shuffled, random);

        assertThat(after(before, shuffled)).isEqualTo(after(before, confirms));
    }

    private static Desire desireTwenty(ModelRank rank) {
        return new Desire(
                token(1),
                Share.ofPercent(20),
                List.of(new DesiredLimit(rank.instance(), PhaseLimits.uniform(MemoryBytes.of(20)), Share.ALL)));
    }

    private static LedgerEvent.Snapshot after(DeviceLedger before, List<LedgerCommand> commands) {
        DeviceLedger ledger = before;
        for (LedgerCommand command : commands) {
            for (LedgerEvent event : ledger.decide(command).events()) {
                ledger = ledger.apply(event);
            }
        }
        return ledger.snapshot();
    }
}
