package dev.ullage.coordinator.admission;

import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Reservations.reservation;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.coordinator.admission.GangAttempt.Send;
import dev.ullage.coordinator.admission.GangAttempt.State;
import dev.ullage.coordinator.admission.GangAttempt.Turn;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** One attempt for a job on two devices. */
class GangAttemptTest {
    private static final Reservation GANG = reservation("gang", 1, gib(30), gib(20));
    private static final DeviceId A = new DeviceId("GPU-a");
    private static final DeviceId B = new DeviceId("GPU-b");
    private static final Duration RESEND = Duration.ofSeconds(1);
    private static final Instant T0 = Instant.parse("2030-01-01T00:00:00Z");

    private GangAttempt attempt = GangAttempt.start(GANG, T0);
    private Instant now = T0;

    private List<String> tick() {
        Turn turn = attempt.turn(now, RESEND);
        attempt = turn.attempt();
        return turn.sends().stream().map(GangAttemptTest::text).toList();
    }

    private static String text(Send send) {
        assertThat(send.reservation()).isEqualTo(GANG);
        return send.step() + " " + send.node() + " " + send.device();
    }

    private void shows(DeviceId device, boolean committed) {
        report(device, List.of(new ReservationReport(GANG, committed)));
    }

    private void showsNothing(DeviceId device) {
        report(device, List.of(new ReservationReport(reservation("gang", 9, gib(1)), true)));
    }

    private void report(DeviceId device, List<ReservationReport> reservations) {
        attempt = attempt.onReport(new DeviceReservations(device, reservations, new TreeSet<>()), now);
    }

    private void passes(Duration time) {
        now = now.plus(time);
    }

    private void isPlaced() {
        tick();
        shows(A, false);
        shows(B, false);
        tick();
        shows(A, true);
        shows(B, true);
        assertThat(attempt.isPlaced()).isTrue();
    }

    @Test
    void nothingIsCommittedBeforeEveryPartIsReservedAndNothingPlacedBeforeEveryPartIsCommitted() {
        assertThat(tick()).containsExactly("RESERVE node-a GPU-a", "RESERVE node-a GPU-b");
        shows(A, false);
        assertThat(attempt.state()).isEqualTo(State.RESERVING);
        assertThat(tick()).isEmpty();
        shows(B, false);
        assertThat(attempt.state()).isEqualTo(State.COMMITTING);
        assertThat(tick()).containsExactly("COMMIT node-a GPU-a", "COMMIT node-a GPU-b");
        shows(A, true);
        shows(B, false);
        assertThat(attempt.isPlaced()).isFalse();
        assertThat(attempt.waitingFor()).containsExactly(GANG.parts().get(1));
        shows(B, true);

        assertThat(attempt.isPlaced()).isTrue();
        assertThat(attempt.reason()).isEmpty();
        passes(Duration.ofHours(1));
        assertThat(tick()).isEmpty();
    }

    @Test
    void whatIsAskedIsAskedAgainUntilAReportShowsIt() {
        tick();
        shows(A, false);
        passes(RESEND.minusMillis(1));
        assertThat(tick()).isEmpty();
        passes(Duration.ofMillis(1));
        assertThat(tick()).containsExactly("RESERVE node-a GPU-b");
        shows(B, false);
        assertThat(tick()).hasSize(2);
        shows(B, true);
        passes(RESEND);
        assertThat(tick()).containsExactly("COMMIT node-a GPU-a");
    }

    @Test
    void oneRefusalGivesAllOfItBack() {
        tick();
        shows(A, false);

        attempt = attempt.onRefused(B, "refused: no room", now);

        assertThat(attempt.state()).isEqualTo(State.RELEASING);
        assertThat(attempt.reason()).contains("refused: no room");
        assertThat(tick()).containsExactly("RELEASE node-a GPU-a", "RELEASE node-a GPU-b");
        showsNothing(A);
        passes(RESEND);
        assertThat(tick()).containsExactly("RELEASE node-a GPU-b");
        showsNothing(B);
        assertThat(attempt.state()).isEqualTo(State.ENDED);
        assertThat(tick()).isEmpty();
    }

    @Test
    void aCommitThatIsRefusedGivesBackWhatIsCommittedElsewhere() {
        tick();
        shows(A, false);
        shows(B, false);
        tick();
        shows(A, true);

        attempt = attempt.onRefused(B, "refused to commit: it may have expired", now);

        assertThat(tick()).containsExactly("RELEASE node-a GPU-a", "RELEASE node-a GPU-b");
        showsNothing(B);
        shows(A, true);
        assertThat(attempt.state()).isEqualTo(State.RELEASING);
        showsNothing(A);
        assertThat(attempt.state()).isEqualTo(State.ENDED);
    }

    @Test
    void whatIsNotPlacedWithinTheDeadlineIsGivenBack() {
        tick();
        shows(A, false);
        passes(Protocol.PLACED_WITHIN.minusMillis(1));
        tick();
        assertThat(attempt.state()).isEqualTo(State.RESERVING);
        passes(Duration.ofMillis(1));

        assertThat(tick()).containsExactly("RELEASE node-a GPU-a", "RELEASE node-a GPU-b");

        assertThat(attempt.reason()).contains("not placed within 8 s: no answer of GPU-b of node-a");
        assertThat(Protocol.PLACED_WITHIN).isLessThan(Protocol.RESERVATION_KEPT);
    }

    // Goal: no report from before the reservation came ends an attempt whose release is on its way.
    @Test
    void aPartIsGoneOnlyAfterItsReleaseWasSent() {
        tick();
        attempt = attempt.release("withdrawn", now);
        showsNothing(A);
        showsNothing(B);
        assertThat(attempt.state()).isEqualTo(State.RELEASING);
        assertThat(tick()).hasSize(2);
        showsNothing(A);
        showsNothing(B);
        assertThat(attempt.state()).isEqualTo(State.ENDED);
    }

    @Test
    void aPartThatComesBackIsReleasedAgain() {
        tick();
        attempt = attempt.release("withdrawn", now);
        tick();
        showsNothing(A);
        shows(A, false);

        assertThat(tick()).as("shown again, and the last release is young").isEmpty();
        passes(RESEND);
        assertThat(tick()).containsExactly("RELEASE node-a GPU-a", "RELEASE node-a GPU-b");
    }

    @Test
    void aReportFromBeforeDoesNotUndoWhatWasShownAndOneThatIsLateMeansNothing() {
        tick();
        shows(A, false);
        showsNothing(A);
        shows(B, false);
        assertThat(attempt.state()).isEqualTo(State.COMMITTING);
        tick();
        shows(A, true);
        shows(A, false);
        showsNothing(A);
        shows(B, true);
        assertThat(attempt.isPlaced()).isTrue();

        showsNothing(A);
        passes(Duration.ofMillis(4_999));
        showsNothing(A);
        shows(A, true);
        passes(Duration.ofSeconds(60));
        showsNothing(A);
        attempt = attempt.onRefused(A, "refused: late", now);
        assertThat(attempt.isPlaced()).isTrue();
    }

    @Test
    void aPlacedJobThatHasLostAPartForGoodIsGivenBackAsAWhole() {
        isPlaced();
        showsNothing(A);
        passes(Duration.ofSeconds(5));
        showsNothing(A);

        assertThat(attempt.reason()).contains("GPU-a of node-a no longer has its part");
        assertThat(tick()).containsExactly("RELEASE node-a GPU-a", "RELEASE node-a GPU-b");
    }

    @Test
    void aPlacedJobIsReleasedWhenItIsOver() {
        isPlaced();

        attempt = attempt.release("the job is over", now);
        GangAttempt again = attempt.release("another reason", now);

        assertThat(again).isSameAs(attempt);
        assertThat(tick()).hasSize(2);
    }

    @Test
    void aDeviceThatIsGoneForGoodKeepsNoReleaseWaiting() {
        tick();
        assertThat(attempt.forgetting(device -> false)).isSameAs(attempt);
        attempt = attempt.release("withdrawn", now);
        tick();
        attempt = attempt.forgetting(device -> !device.equals(B));
        assertThat(attempt.waitingFor()).containsExactly(GANG.parts().get(0));
        showsNothing(A);
        assertThat(attempt.state()).isEqualTo(State.ENDED);
    }

    @Test
    void refusalsAndReportsOfOtherDevicesAreNotItsOwn() {
        tick();
        attempt = attempt.onRefused(new DeviceId("GPU-z"), "refused", now);
        shows(new DeviceId("GPU-z"), true);

        assertThat(attempt.state()).isEqualTo(State.RESERVING);
        assertThat(attempt.waitingFor()).hasSize(2);
    }
}
