package dev.ullage.common.ledger;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.token;
import static dev.ullage.common.testing.Fixtures.want;
import static dev.ullage.common.testing.Reservations.id;
import static dev.ullage.common.testing.Reservations.rankOf;
import static dev.ullage.common.testing.Reservations.reservation;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

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
import dev.ullage.common.ledger.LedgerEvent.ReservationCommitted;
import dev.ullage.common.ledger.LedgerEvent.ReservationExpired;
import dev.ullage.common.ledger.LedgerEvent.ReservationMade;
import dev.ullage.common.ledger.LedgerEvent.ReservationReleased;
import dev.ullage.common.ledger.LedgerEvent.TokenSeen;
import dev.ullage.common.ledger.Refusal.Reason;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.model.Share;
import dev.ullage.common.testing.LedgerOwner;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Room that a device keeps for a job. The device has a budget of 80 GiB. */
class LedgerReservationTest {
    private static final CoordinatorToken MINE = token(1);
    private static final RankInstance OTHER = rankOf("other", 0);
    private static final RankInstance GANG_0 = rankOf("gang", 0);
    private static final RankInstance GANG_1 = rankOf("gang", 1);
    private static final JobId GANG = new JobId("gang");

    private final LedgerOwner owner = LedgerOwner.of(aDevice());

    private static Reserve reserve(long number, long gibibytes) {
        return new Reserve(MINE, reservation("gang", number, gib(gibibytes), gib(1)));
    }

    private static CommitReservation commit(long number) {
        return new CommitReservation(MINE, id("gang", number));
    }

    private static ReleaseReservation release(long number) {
        return new ReleaseReservation(MINE, id("gang", number));
    }

    private static Join hello(RankInstance rank) {
        return new Join(rank, 0, MemoryBytes.ZERO);
    }

    private static Desire desire(DesiredLimit... limits) {
        return new Desire(MINE, Share.ofPercent(20), List.of(limits));
    }

    private LedgerDecision grows(RankInstance rank, long gibibytes) {
        owner.on(hello(rank));
        return owner.on(desire(want(rank, gib(gibibytes))));
    }

    @Test
    void whatIsReservedIsPromisedToNobodyElse() {
        LedgerDecision reserved = owner.on(reserve(1, 50));

        assertThat(reserved.events())
                .containsExactly(new TokenSeen(MINE), new ReservationMade(reservation("gang", 1, gib(50), gib(1))));
        assertThat(owner.ledger().promised()).isEqualTo(gib(50));
        assertThat(owner.ledger().free()).isEqualTo(gib(30));
        assertThat(grows(OTHER, 31).refusals())
                .containsExactly(new Refusal(
                        Reason.NO_ROOM,
                        "refused grow of rank " + OTHER + " on GPU-a: wants 31.0 GiB, has 0 B, free 30.0 GiB (budget"
                                + " 80.0 GiB, ceilings 0 B, reserved 50.0 GiB)"));
        assertThat(grows(OTHER, 30).orders()).hasSize(1);
    }

    @Test
    void aRankOfTheJobTakesWhatIsKeptForItAndWhatIsFree() {
        owner.after(reserve(1, 50), commit(1));
        grows(OTHER, 20);

        assertThat(grows(GANG_0, 61).refusals()).hasSize(1);
        assertThat(grows(GANG_0, 60).orders()).hasSize(1);

        assertThat(owner.ledger().promised()).isEqualTo(gib(80));
        assertThat(owner.ledger().outstanding(GANG)).isEqualTo(MemoryBytes.ZERO);
        assertThat(owner.ledger().free()).isEqualTo(MemoryBytes.ZERO);
    }

    @Test
    void theRanksOfTheJobShareWhatIsKeptForIt() {
        owner.after(reserve(1, 50));
        grows(OTHER, 30);

        assertThat(grows(GANG_0, 30).orders()).hasSize(1);
        assertThat(owner.ledger().outstanding(GANG)).isEqualTo(gib(20));
        assertThat(grows(GANG_1, 21).refusals()).hasSize(1);
        assertThat(grows(GANG_1, 20).orders()).hasSize(1);
        assertThat(owner.ledger().promised()).isEqualTo(gib(80));
    }

    // A rank that is started again finds its place.
    @Test
    void whenARankLeavesItsRoomIsTheJobsAgain() {
        owner.after(reserve(1, 50), commit(1));
        grows(OTHER, 30);
        grows(GANG_0, 50);

        owner.on(new Leave(GANG_0));

        assertThat(owner.ledger().outstanding(GANG)).isEqualTo(gib(50));
        assertThat(owner.on(desire(want(OTHER, gib(31)))).refusals()).hasSize(1);
        assertThat(grows(rankOf("gang", 7), 50).orders()).hasSize(1);
    }

    @Test
    void aReleaseFreesAtOnceWhatNoCeilingClaims() {
        owner.after(reserve(1, 50), commit(1));
        grows(GANG_0, 20);

        assertThat(owner.on(release(1)).events()).containsExactly(new ReservationReleased(id("gang", 1)));

        assertThat(owner.ledger().promised()).isEqualTo(gib(20));
        assertThat(owner.ledger().free()).isEqualTo(gib(60));
        assertThat(owner.ledger().grant(GANG_0).orElseThrow().ceiling()).isEqualTo(gib(20));
    }

    @Test
    void aReservationWithoutRoomIsRefusedWithTheNumbersAndWhatItWaitsFor() {
        grows(OTHER, 60);
        owner.after(new Confirm(OTHER, 1, gib(60)), desire(want(OTHER, gib(10))));

        LedgerDecision refused = owner.on(reserve(1, 30));

        assertThat(refused)
                .isEqualTo(new LedgerDecision(
                        List.of(),
                        List.of(),
                        List.of(new Refusal(
                                Reason.NO_ROOM,
                                "refused reservation gang#1:c1#1 on GPU-a: wants 30.0 GiB for 1 rank, free 20.0 GiB"
                                        + " (budget 80.0 GiB, ceilings 60.0 GiB, reserved 0 B); waiting for rank "
                                        + OTHER + " (sequence 2)"))));
        owner.on(new Confirm(OTHER, 2, gib(10)));
        assertThat(owner.on(reserve(1, 30)).refusals()).isEmpty();
    }

    @Test
    void ranksOfTheJobThatAreThereAlreadyCountTowardsIt() {
        grows(GANG_0, 60);
        grows(OTHER, 10);

        assertThat(owner.on(reserve(1, 71)).refusals()).hasSize(1);
        assertThat(owner.on(reserve(1, 70)).refusals()).isEmpty();
        assertThat(owner.ledger().promised()).isEqualTo(gib(80));
    }

    @Test
    void twoReservationsOfOneJobAddUp() {
        owner.after(reserve(1, 30), reserve(2, 40));
        grows(GANG_0, 20);

        assertThat(owner.ledger().outstanding(GANG)).isEqualTo(gib(50));
        assertThat(owner.on(reserve(3, 11)).refusals()).hasSize(1);
        owner.on(release(2));
        assertThat(owner.ledger().outstanding(GANG)).isEqualTo(gib(10));
    }

    @Test
    void anythingThatIsSaidTwiceHappensOnce() {
        owner.on(reserve(1, 50));
        assertThat(owner.on(reserve(1, 50))).isEqualTo(new LedgerDecision(List.of(), List.of(), List.of()));
        assertThat(owner.on(commit(1)).events()).containsExactly(new ReservationCommitted(id("gang", 1)));
        assertThat(owner.on(commit(1))).isEqualTo(new LedgerDecision(List.of(), List.of(), List.of()));
        assertThat(owner.on(reserve(1, 50)).events()).isEmpty();
        assertThat(owner.ledger().reservation(id("gang", 1)).orElseThrow().committed())
                .isTrue();
        owner.on(release(1));
        assertThat(owner.on(release(1))).isEqualTo(new LedgerDecision(List.of(), List.of(), List.of()));
    }

    @Test
    void aCommitOfWhatIsNotThereIsRefused() {
        owner.after(reserve(1, 50), release(1));

        assertThat(owner.on(commit(1)).refusals())
                .containsExactly(new Refusal(
                        Reason.UNKNOWN_RESERVATION,
                        "refused to commit reservation gang#1:c1#1 on GPU-a: it is not there, it may have expired"));
        assertThat(owner.ledger().promised()).isEqualTo(MemoryBytes.ZERO);
    }

    @Test
    void onlyWhatIsNotCommittedExpires() {
        owner.after(reserve(1, 30), reserve(2, 30), commit(1));

        assertThat(owner.on(new ExpireReservation(id("gang", 1))).events()).isEmpty();
        assertThat(owner.on(new ExpireReservation(id("gang", 2))).events())
                .containsExactly(new ReservationExpired(id("gang", 2)));
        assertThat(owner.on(new ExpireReservation(id("gang", 2))).events()).isEmpty();

        assertThat(owner.ledger().promised()).isEqualTo(gib(30));
        assertThat(owner.on(commit(2)).refusals()).hasSize(1);
    }

    @Test
    void anOlderCoordinatorNeitherReservesNorCommitsNorReleases() {
        owner.after(reserve(1, 30), new LedgerCommand.Acknowledge(token(2)));
        LedgerEvent.Snapshot before = owner.ledger().snapshot();

        for (LedgerCommand command : List.of(reserve(2, 10), commit(1), release(1))) {
            assertThat(owner.on(command).refusals())
                    .extracting(Refusal::reason)
                    .containsExactly(Reason.STALE_COORDINATOR);
        }

        assertThat(owner.ledger().snapshot()).isEqualTo(before);
        assertThat(owner.on(new ReleaseReservation(token(3), id("gang", 1))).events())
                .containsExactly(new TokenSeen(token(3)), new ReservationReleased(id("gang", 1)));
    }

    @Test
    void anotherReservationUnderATakenNameOrWithoutAPartHereIsRefused() {
        owner.on(reserve(1, 30));
        Reservation elsewhere = new Reservation(
                new ReservationId(GANG, MINE, 2),
                Priority.LOW,
                List.of(new ReservedPart(new NodeId("node-a"), new DeviceId("GPU-z"), gib(1), 1)));

        assertThat(owner.on(reserve(1, 31)).refusals())
                .containsExactly(new Refusal(
                        Reason.IMPOSSIBLE_RESERVATION,
                        "refused reservation gang#1:c1#1 on GPU-a: another one has this name"));
        assertThat(owner.on(new Reserve(MINE, elsewhere)).refusals())
                .containsExactly(new Refusal(
                        Reason.IMPOSSIBLE_RESERVATION,
                        "refused reservation gang#1:c1#2 on GPU-a: it has no part here"));
    }

    @Test
    void aSmallerBudgetWaitsForAReservationAsForACeiling() {
        owner.after(reserve(1, 70), commit(1));

        owner.on(new Measure(gib(100), gib(30)));

        assertThat(owner.ledger().inForce().budget()).isEqualTo(gib(80));
        assertThat(owner.ledger().isOverBudget()).isTrue();
        assertThat(owner.on(reserve(2, 1)).refusals()).hasSize(1);

        owner.on(release(1));

        assertThat(owner.ledger().inForce().budget()).isEqualTo(gib(50));
        assertThat(owner.ledger().isOverBudget()).isFalse();
    }

    // What was promised is given, but not where strangers hold the memory by now.
    @Test
    void onADeviceOverItsBudgetTheJobTakesWhatTheWantedBudgetHasForIt() {
        owner.after(reserve(1, 50), commit(1));
        grows(OTHER, 20);
        owner.on(new Measure(gib(100), gib(30)));
        assertThat(owner.ledger().isOverBudget()).isTrue();

        assertThat(grows(OTHER, 21).refusals()).hasSize(1);
        assertThat(grows(GANG_0, 31).refusals()).hasSize(1);
        assertThat(grows(GANG_0, 30).orders()).hasSize(1);
    }

    @Test
    void afterAnAdoptionNoPromiseToAJobTakesTheCeilingsFurtherOverTheBudget() {
        owner.after(reserve(1, 50), commit(1), new Join(OTHER, 3, gib(60)));
        assertThat(owner.ledger().excess()).isEqualTo(gib(30));

        assertThat(grows(GANG_0, 21).refusals()).hasSize(1);
        assertThat(grows(GANG_0, 20).orders()).hasSize(1);
        assertThat(owner.ledger().excess()).isEqualTo(gib(30));
    }

    @Test
    void noReservationIsMoreThanTheBudgetHoweverMuchTheJobHoldsAlready() {
        owner.on(new Join(GANG_0, 3, gib(200)));

        Reserve most = new Reserve(MINE, reservation("gang", 1, MemoryBytes.of(Long.MAX_VALUE)));
        assertThat(owner.on(most).refusals()).extracting(Refusal::reason).containsExactly(Reason.NO_ROOM);
        assertThat(owner.on(reserve(1, 100)).refusals())
                .extracting(Refusal::reason)
                .containsExactly(Reason.NO_ROOM);
    }

    @Test
    void aLedgerKeepsNoMorePartsThanAReportCanCarry() {
        for (int number = 1; number <= 2; number++) {
            assertThat(owner.on(new Reserve(MINE, wide(number))).refusals()).isEmpty();
        }

        assertThat(owner.on(reserve(9, 1)).refusals())
                .containsExactly(new Refusal(
                        Reason.TOO_MANY_PARTS,
                        "refused reservation gang#1:c1#9 on GPU-a: all reservations there would have 2050 parts, at most"
                                + " 2048 are kept"));
    }

    private static Reservation wide(long number) {
        NodeId node = new NodeId("node-a");
        List<ReservedPart> parts = IntStream.range(0, Reservation.MAX_PARTS)
                .mapToObj(i -> new ReservedPart(node, new DeviceId(i == 0 ? "GPU-a" : "GPU-" + i), gib(1), 1))
                .toList();
        return new Reservation(id("gang", number), Priority.HIGH, parts);
    }

    @Test
    void aRestartFindsReservationsAsTheyWere() {
        owner.after(reserve(1, 30), reserve(2, 30), commit(1));

        DeviceLedger replayed = LedgerOwner.replayed(owner.events());

        assertThat(replayed.snapshot()).isEqualTo(owner.ledger().snapshot());
        DeviceLedger compacted = DeviceLedger.open(replayed.snapshot());
        assertThat(compacted.promised()).isEqualTo(gib(60));
        assertThat(compacted.reservations())
                .extracting(HeldReservation::id, HeldReservation::committed)
                .containsExactly(tuple(id("gang", 1), true), tuple(id("gang", 2), false));
    }

    @Test
    void anEventThatPromisesMoreThanThereIsStopsTheOwner() {
        DeviceLedger ledger = owner.ledger();
        ReservationMade tooMuch = new ReservationMade(reservation("gang", 1, gib(81)));

        assertThatThrownBy(() -> ledger.apply(tooMuch))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("would exceed its budget: promised " + gib(81).value() + " B");
        assertThatThrownBy(() -> ledger.apply(new ReservationCommitted(id("gang", 1))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no reservation gang#1:c1#1 on GPU-a");
    }
}
