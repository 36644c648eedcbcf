package dev.ullage.common.ledger;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.token;
import static dev.ullage.common.testing.Reservations.id;
import static dev.ullage.common.testing.Reservations.rankOf;
import static dev.ullage.common.testing.Reservations.reservation;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.ledger.LedgerCommand.CommitReservation;
import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.ledger.LedgerCommand.ExpireReservation;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.LedgerCommand.Leave;
import dev.ullage.common.ledger.LedgerCommand.Measure;
import dev.ullage.common.ledger.LedgerCommand.ReleaseReservation;
import dev.ullage.common.ledger.LedgerCommand.Reserve;
import dev.ullage.common.ledger.LedgerEvent.ReservationExpired;
import dev.ullage.common.ledger.LedgerEvent.ReservationReleased;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.Share;
import dev.ullage.common.testing.LedgerOwner;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/**
 * Random histories of one device with reservations, in small numbers of bytes: 100, of which 80 may be promised. Two
 * jobs have two ranks each, which do what they are told and say so; reservations are numbered 1 to 3.
 */
class ReservationPropertyTest {
    private static final List<String> JOBS = List.of("a", "b");

    private enum Kind {
        JOIN,
        GROW,
        CONFIRM,
        LEAVE,
        MEASURE,
        RESERVE,
        COMMIT,
        RELEASE,
        EXPIRE
    }

    private record Step(Kind kind, int job, int number, int amount, boolean isStale) {}

    @Provide
    Arbitrary<List<Step>> histories() {
        Arbitrary<Kind> kinds = Arbitraries.frequency(
                Tuple.of(2, Kind.JOIN),
                Tuple.of(6, Kind.GROW),
                Tuple.of(4, Kind.CONFIRM),
                Tuple.of(1, Kind.LEAVE),
                Tuple.of(1, Kind.MEASURE),
                Tuple.of(6, Kind.RESERVE),
                Tuple.of(4, Kind.COMMIT),
                Tuple.of(2, Kind.RELEASE),
                Tuple.of(2, Kind.EXPIRE));
        return Combinators.combine(
                        kinds,
                        Arbitraries.integers().between(0, 1),
                        Arbitraries.integers().between(1, 3),
                        Arbitraries.integers().between(1, 60),
                        Arbitraries.integers().between(0, 9).map(dice -> dice == 0))
                .as(Step::new)
                .list()
                .ofMinSize(20)
                .ofMaxSize(120);
    }

    private static final class World {
        private final LedgerOwner owner = LedgerOwner.of(aDevice().withCapacity(MemoryBytes.of(100)));

        World() {
            owner.on(new LedgerCommand.Acknowledge(token(2)));
        }

        LedgerCommand command(Step step) {
            CoordinatorToken used = token(step.isStale() ? 1 : 2);
            String job = JOBS.get(step.job());
            ReservationId id = id(job, step.number());
            RankInstance rank = rankOf(job, step.number() % 2);
            return switch (step.kind()) {
                case JOIN -> new Join(rank, 0, MemoryBytes.ZERO);
                case GROW ->
                    new Desire(
                            used,
                            Share.ofPercent(20),
                            List.of(new DesiredLimit(
                                    rank, PhaseLimits.uniform(MemoryBytes.of(step.amount())), Share.ALL)));
                case CONFIRM ->
                    owner.ledger()
                            .grant(rank)
                            .<LedgerCommand>map(grant -> new Confirm(rank, grant.sequence(), grant.targetMax()))
                            .orElseGet(() -> new Leave(rank));
                case LEAVE -> new Leave(rank);
                case MEASURE -> new Measure(MemoryBytes.of(100), MemoryBytes.of(step.amount() / 2));
                case RESERVE -> new Reserve(used, reservation(job, step.number(), MemoryBytes.of(step.amount())));
                case COMMIT -> new CommitReservation(used, id);
                case RELEASE -> new ReleaseReservation(used, id);
                case EXPIRE -> new ExpireReservation(id);
            };
        }
    }

    /** Worked out from the parts: for each job the larger of what is reserved for it and what its ranks have. */
    private static long promised(DeviceLedger ledger) {
        Map<String, Long> reserved = new TreeMap<>();
        ledger.reservations()
                .forEach(held -> reserved.merge(
                        held.id().job().value(),
                        held.reservation().parts().get(0).amount().value(),
                        Long::sum));
        Map<String, Long> ceilings = new TreeMap<>();
        ledger.grants()
                .forEach(grant -> ceilings.merge(
                        grant.instance().rank().job().value(), grant.ceiling().value(), Long::sum));
        return JOBS.stream()
                .mapToLong(job -> Math.max(reserved.getOrDefault(job, 0L), ceilings.getOrDefault(job, 0L)))
                .sum();
    }

    @Property(tries = 2000)
    void whatIsPromisedAlwaysFitsTheBudgetInForce(@ForAll("histories") List<Step> history) {
        World world = new World();
        for (Step step : history) {
            DeviceLedger before = world.owner.ledger();
            LedgerDecision decision = world.owner.on(world.command(step));
            DeviceLedger after = world.owner.ledger();

            assertThat(after.promised().value()).as("%s", step).isEqualTo(promised(after));
            assertThat(after.promised())
                    .as("%s", step)
                    .isLessThanOrEqualTo(after.inForce().budget());
            if (after.isOverBudget() && before.isOverBudget()) {
                assertThat(after.promised()).as("%s", step).isLessThanOrEqualTo(before.promised());
            }
            for (LedgerEvent event : decision.events()) {
                requireUncommitted(before, event);
            }
        }
    }

    private static void requireUncommitted(DeviceLedger before, LedgerEvent event) {
        if (event instanceof ReservationExpired expired) {
            assertThat(before.reservation(expired.id()).orElseThrow().committed())
                    .isFalse();
        }
    }

    @Property(tries = 1000)
    void aReleaseChangesNothingButTheRoomThatNoRankHas(@ForAll("histories") List<Step> history) {
        World world = new World();
        for (Step step : history) {
            DeviceLedger before = world.owner.ledger();
            LedgerDecision decision = world.owner.on(world.command(step));
            if (decision.events().stream().anyMatch(ReservationReleased.class::isInstance)) {
                DeviceLedger after = world.owner.ledger();
                assertThat(List.copyOf(after.grants())).isEqualTo(List.copyOf(before.grants()));
                assertThat(after.ceilings()).isEqualTo(before.ceilings());
                assertThat(after.promised().value()).isEqualTo(promised(after));
                assertThat(after.reservations()).hasSize(before.reservations().size() - 1);
            }
        }
    }

    @Property(tries = 1000)
    void anythingSaidTwiceHappensOnceAndNothingAnOlderCoordinatorSaysHappens(@ForAll("histories") List<Step> history) {
        World world = new World();
        for (Step step : history) {
            LedgerCommand command = world.command(step);
            LedgerEvent.Snapshot before = world.owner.ledger().snapshot();
            world.owner.on(command);
            boolean isFenced = step.isStale()
                    && (command instanceof Reserve
                            || command instanceof CommitReservation
                            || command instanceof ReleaseReservation
                            || command instanceof Desire);
            if (isFenced) {
                assertThat(world.owner.ledger().snapshot()).as("%s", step).isEqualTo(before);
            }
            assertThat(world.owner.on(command).events()).as("%s again", step).isEmpty();
        }
        assertThat(LedgerOwner.replayed(world.owner.events()).snapshot())
                .isEqualTo(world.owner.ledger().snapshot());
        assertThat(DeviceLedger.open(world.owner.ledger().snapshot()).promised())
                .isEqualTo(world.owner.ledger().promised());
    }
}
