package dev.ullage.coordinator.admission;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.token;
import static dev.ullage.common.testing.Reservations.reservation;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.ledger.LedgerCommand.Acknowledge;
import dev.ullage.common.ledger.LedgerCommand.CommitReservation;
import dev.ullage.common.ledger.LedgerCommand.ReleaseReservation;
import dev.ullage.common.ledger.LedgerCommand.Reserve;
import dev.ullage.common.ledger.Refusal;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.testing.LedgerOwner;
import dev.ullage.coordinator.admission.GangAttempt.State;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What a coordinator with token 2 does about reservations of one with token 1. */
class GangRecoveryTest {
    private static final Reservation GANG = reservation("gang", 1, gib(30), gib(20));
    private static final CoordinatorToken OLDER = token(1);
    private static final CoordinatorToken MINE = token(2);
    private static final Instant T0 = Instant.parse("2030-01-01T00:00:00Z");

    private GangRecovery recovery = GangRecovery.NONE;

    private static DeviceReservations device(String id, ReservationReport... reservations) {
        return new DeviceReservations(new DeviceId(id), List.of(reservations), new TreeSet<>());
    }

    private static ReservationReport reserved() {
        return new ReservationReport(GANG, false);
    }

    private static ReservationReport committed() {
        return new ReservationReport(GANG, true);
    }

    private List<GangAttempt> find(Instant now, DeviceReservations... reports) {
        GangRecovery.Turn turn = recovery.turn(List.of(reports), MINE, id -> false, now);
        recovery = turn.recovery();
        return turn.found();
    }

    @Test
    void whatIsCommittedEverywhereIsKept() {
        List<GangAttempt> found = find(T0, device("GPU-a", committed()), device("GPU-b", committed()));

        assertThat(found).singleElement().satisfies(attempt -> {
            assertThat(attempt.isPlaced()).isTrue();
            assertThat(attempt.reservation()).isEqualTo(GANG);
        });
        assertThat(recovery.undecided()).isEmpty();
    }

    @Test
    void whatIsNotCommittedEverywhereIsReleased() {
        for (List<DeviceReservations> reports : List.of(
                List.of(device("GPU-a", committed()), device("GPU-b", reserved())),
                List.of(device("GPU-a", committed()), device("GPU-b")),
                List.of(device("GPU-a", reserved()), device("GPU-b", reserved())),
                List.of(device("GPU-b", reserved())))) {
            recovery = GangRecovery.NONE;
            List<GangAttempt> found = find(T0, reports.toArray(DeviceReservations[]::new));

            assertThat(found).singleElement().satisfies(attempt -> {
                assertThat(attempt.state()).isEqualTo(State.RELEASING);
                assertThat(attempt.reason().orElseThrow())
                        .startsWith("its coordinator was replaced before every part was committed: GPU-");
                assertThat(attempt.turn(T0, Duration.ofSeconds(1)).sends())
                        .as("all parts, also where none was seen: a message may be on its way")
                        .hasSize(2);
            });
        }
    }

    @Test
    void aDeviceThatHasNotReportedIsWaitedForButNotForEver() {
        assertThat(find(T0, device("GPU-a", committed()))).isEmpty();
        assertThat(recovery.undecided()).containsExactly(GANG.id());
        assertThat(find(T0.plusMillis(59_999), device("GPU-a", committed()))).isEmpty();

        List<GangAttempt> found = find(T0.plusSeconds(60), device("GPU-a", committed()));

        assertThat(found).singleElement().satisfies(attempt -> assertThat(attempt.reason())
                .contains("its coordinator was replaced, and GPU-b of node-a has not reported for 60 s"));
    }

    @Test
    void aJobWhoseRanksAreSeenWasTold() {
        NavigableSet<JobId> ranks = new TreeSet<>(List.of(new JobId("gang")));
        DeviceReservations running = new DeviceReservations(new DeviceId("GPU-a"), List.of(committed()), ranks);
        find(T0, running);

        assertThat(find(T0.plusSeconds(3600), running)).isEmpty();
        assertThat(find(T0.plusSeconds(3601), running, device("GPU-b", committed())))
                .singleElement()
                .satisfies(attempt -> assertThat(attempt.isPlaced()).isTrue());
    }

    @Test
    void whatALateMessageLeftOfAnOwnAttemptIsReleasedAndWhatIsFollowedIsLeftAlone() {
        List<DeviceReservations> reports = List.of(device("GPU-a", committed()), device("GPU-b", committed()));

        assertThat(recovery.turn(reports, OLDER, id -> false, T0).found())
                .singleElement()
                .satisfies(attempt -> assertThat(attempt.reason()).contains("what a late message left of it"));
        assertThat(recovery.turn(reports, OLDER, GANG.id()::equals, T0).found()).isEmpty();
    }

    // Goal: no late report brings back what was given back. Method: as the simulation found it.
    @Test
    void whatWasFoundAndGivenBackIsNotFoundWholeByALateReport() {
        DeviceReservations[] whole = {device("GPU-a", committed()), device("GPU-b", committed())};
        assertThat(find(T0, whole)).singleElement().matches(GangAttempt::isPlaced);
        assertThat(find(T0.plusSeconds(1), device("GPU-a"), device("GPU-b"))).isEmpty();

        assertThat(find(T0.plusSeconds(2), whole)).singleElement().satisfies(attempt -> assertThat(attempt.state())
                .isEqualTo(State.RELEASING));
    }

    // Goal: two coordinators at once never give back what the newer one keeps. Method: as the simulation found it: the
    // older one takes a report from before the reservation for the end of its release, and a late one for what is left.
    @Test
    void whatACoordinatorThatWasReplacedGivesBackStaysWithItsSuccessor() {
        Reservation gang = reservation("gang", 1, gib(30));
        LedgerOwner ledger = LedgerOwner.of(aDevice());
        ledger.on(new Reserve(OLDER, gang));
        ledger.on(new CommitReservation(OLDER, gang.id()));
        DeviceReservations shown = device("GPU-a", new ReservationReport(gang, true));
        GangAttempt older = GangAttempt.placed(gang, T0).release("withdrawn", T0);
        older = older.turn(T0, Duration.ofSeconds(1)).attempt();

        ledger.on(new Acknowledge(MINE));
        GangAttempt successors =
                recovery.turn(List.of(shown), MINE, id -> false, T0).found().get(0);
        assertThat(older.onReport(device("GPU-a"), T0).state()).isEqualTo(State.ENDED);
        List<GangAttempt> late =
                GangRecovery.NONE.turn(List.of(shown), OLDER, id -> false, T0).found();
        assertThat(late).singleElement().matches(attempt -> attempt.state() == State.RELEASING);
        assertThat(ledger.on(new ReleaseReservation(OLDER, gang.id())).refusals())
                .extracting(Refusal::reason)
                .containsExactly(Refusal.Reason.STALE_COORDINATOR);

        assertThat(ledger.ledger().reservation(gang.id()).orElseThrow().committed())
                .isTrue();
        assertThat(successors.onReport(shown, T0).isPlaced()).isTrue();
    }
}
