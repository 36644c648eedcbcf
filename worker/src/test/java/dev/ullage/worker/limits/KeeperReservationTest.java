package dev.ullage.worker.limits;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.limits;
import static dev.ullage.common.testing.Fixtures.token;
import static dev.ullage.common.testing.Reservations.id;
import static dev.ullage.common.testing.Reservations.rankOf;
import static dev.ullage.common.testing.Reservations.reservation;
import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.ConfigFactory;
import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerCommand.CommitReservation;
import dev.ullage.common.ledger.LedgerCommand.ReleaseReservation;
import dev.ullage.common.ledger.LedgerCommand.Reserve;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.ReservationRefused;
import dev.ullage.common.protocol.ToCoordinator.StaleCoordinator;
import dev.ullage.common.protocol.ToWorker.DesireLimits;
import dev.ullage.common.protocol.ToWorker.RankLimit;
import dev.ullage.common.testing.LedgerOwner;
import dev.ullage.common.testing.TestClock;
import dev.ullage.config.ClusterConfig;
import dev.ullage.worker.turns.TurnDesk;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.ManualTime;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What a keeper does about reservations: written before it is answered, expired by its own clock, gone at a restart.
 */
class KeeperReservationTest {
    private static final ActorTestKit KIT = ActorTestKit.create(
            ManualTime.config().withFallback(ClusterConfig.localConfig()).withFallback(ConfigFactory.load()));
    private static final ManualTime TIME = ManualTime.get(KIT.system());
    private static final NodeId NODE = new NodeId("node-a");
    private static final DeviceId DEVICE = aDevice().opened().device();
    private static final Duration TICK = Duration.ofMillis(250);
    private static final Reservation GANG = reservation("gang", 1, gib(50), gib(20));
    private static final RankInstance OTHER = rankOf("other", 0);

    private final TestClock clock = new TestClock();
    private final FakeLedgerStore store = new FakeLedgerStore();
    private final TestProbe<ToCoordinator> uplink = KIT.createTestProbe();
    private final TestProbe<ToCoordinator> coordinator = KIT.createTestProbe();
    private final TestProbe<Order> other = KIT.createTestProbe();
    private ActorRef<LimitKeeper.Command> keeper = start(aDevice().ledger());

    @AfterAll
    static void stopTheKit() {
        KIT.shutdownTestKit();
    }

    @AfterEach
    void stopTheKeeper() {
        KIT.stop(keeper);
    }

    private ActorRef<LimitKeeper.Command> start(DeviceLedger ledger) {
        TurnDesk desk = new TurnDesk(Duration.ofMillis(100), clock);
        return KIT.spawn(LimitKeeper.create(
                new LimitKeeper.Setup(NODE, store, ledger, uplink.getRef(), desk, TICK, Duration.ofSeconds(1), clock)));
    }

    private void ask(LedgerCommand command, long epoch, ReservationId id) {
        keeper.tell(new LimitKeeper.ForReservation(command, token(epoch), id, coordinator.getRef()));
    }

    private void reserve(long epoch, Reservation reservation) {
        ask(new Reserve(token(epoch), reservation), epoch, reservation.id());
    }

    private void commit(long epoch) {
        ask(new CommitReservation(token(epoch), GANG.id()), epoch, GANG.id());
    }

    private void release(long epoch) {
        ask(new ReleaseReservation(token(epoch), GANG.id()), epoch, GANG.id());
    }

    private List<ReservationReport> answer() {
        return reservations(coordinator.expectMessageClass(LimitsReported.class));
    }

    private static List<ReservationReport> reservations(LimitsReported report) {
        return report.ledger().reservations().orElseThrow();
    }

    private void passes(Duration time) {
        clock.advance(time.minus(TICK));
        clock.advance(TICK);
        TIME.timePasses(TICK);
    }

    @Test
    void aReservationIsWrittenBeforeItIsAnsweredAndSoAreCommitAndRelease() {
        List<Integer> answersBefore = new ArrayList<>();
        store.beforeAppendReturns(() -> {
            coordinator.expectNoMessage(Duration.ofMillis(5));
            answersBefore.add(1);
        });

        reserve(1, GANG);
        assertThat(answer()).containsExactly(new ReservationReport(GANG, false));
        commit(1);
        assertThat(answer()).containsExactly(new ReservationReport(GANG, true));
        release(1);
        assertThat(answer()).isEmpty();

        assertThat(answersBefore).hasSize(3);
        assertThat(store.records())
                .containsExactly(
                        List.of(new LedgerEvent.TokenSeen(token(1)), new LedgerEvent.ReservationMade(GANG)),
                        List.of(new LedgerEvent.ReservationCommitted(GANG.id())),
                        List.of(new LedgerEvent.ReservationReleased(GANG.id())));
    }

    @Test
    void aRefusalIsAnsweredWithItsReasonAndTheReport() {
        reserve(1, reservation("gang", 2, gib(81)));

        ReservationRefused refused = coordinator.expectMessageClass(ReservationRefused.class);
        assertThat(refused.id()).isEqualTo(id("gang", 2));
        assertThat(refused.reason())
                .isEqualTo("refused reservation gang#1:c1#2 on GPU-a: wants 81.0 GiB for 1 rank, free 80.0 GiB (budget"
                        + " 80.0 GiB, ceilings 0 B, reserved 0 B)");
        assertThat(answer()).isEmpty();

        commit(1);
        assertThat(coordinator.expectMessageClass(ReservationRefused.class).reason())
                .startsWith("refused to commit reservation gang#1:c1#1");
    }

    @Test
    void anOlderCoordinatorIsToldSoAndChangesNothing() {
        reserve(2, GANG);
        answer();

        release(1);

        coordinator.expectMessage(new StaleCoordinator(NODE, DEVICE, token(1), token(2)));
        coordinator.expectMessageClass(ReservationRefused.class);
        assertThat(answer()).containsExactly(new ReservationReport(GANG, false));
    }

    @Test
    void whatIsNotCommittedInTimeExpiresByTheWorkersOwnClock() {
        reserve(1, GANG);
        answer();

        passes(Protocol.RESERVATION_KEPT.minus(TICK));
        uplink.expectNoMessage(Duration.ofMillis(20));
        reserve(1, GANG);
        assertThat(answer())
                .as("said again, which is no reason to keep it longer")
                .hasSize(1);
        passes(TICK);

        assertThat(reservations(uplink.expectMessageClass(LimitsReported.class)))
                .isEmpty();
        assertThat(store.records()).last().isEqualTo(List.of(new LedgerEvent.ReservationExpired(GANG.id())));
        commit(1);
        coordinator.expectMessageClass(ReservationRefused.class);
    }

    @Test
    void whatIsCommittedDoesNotExpire() {
        reserve(1, GANG);
        commit(1);
        answer();
        answer();

        passes(Protocol.RESERVATION_KEPT.multipliedBy(10));
        release(2);

        assertThat(answer()).isEmpty();
        assertThat(store.records())
                .flatExtracting(record -> record)
                .noneMatch(LedgerEvent.ReservationExpired.class::isInstance);
    }

    @Test
    void aRestartKeepsWhatIsCommittedAndNothingElse() {
        Reservation another = reservation("gang", 2, gib(10));
        reserve(1, GANG);
        commit(1);
        reserve(1, another);
        coordinator.receiveSeveralMessages(3);
        List<LedgerEvent> past = new ArrayList<>(List.of(aDevice().opened()));
        past.addAll(store.replay());
        DeviceLedger replayed = LedgerOwner.replayed(past);
        KIT.stop(keeper);

        keeper = start(replayed);
        ask(new CommitReservation(token(1), another.id()), 1, another.id());

        coordinator.expectMessageClass(ReservationRefused.class);
        assertThat(answer()).containsExactly(new ReservationReport(GANG, true));
        assertThat(store.records()).last().isEqualTo(List.of(new LedgerEvent.ReservationExpired(another.id())));
    }

    @Test
    void whatAReleaseFreesIsGivenToWhoWaitsForIt() {
        reserve(1, GANG);
        answer();
        keeper.tell(new LimitKeeper.Joined(OTHER, 0, MemoryBytes.ZERO, other.getRef()));
        keeper.tell(new LimitKeeper.Plan(new DesireLimits(
                token(1),
                1,
                DEVICE,
                Share.ofPercent(20),
                List.of(new RankLimit(OTHER, limits(gib(60)), Share.ALL)),
                Optional.empty(),
                coordinator.getRef())));
        answer();
        other.expectNoMessage(Duration.ofMillis(20));

        release(1);

        other.expectMessage(new Order(OTHER, 1, limits(gib(60))));
        assertThat(coordinator
                        .expectMessageClass(LimitsReported.class)
                        .ledger()
                        .counts()
                        .highestPromised())
                .as("the audit adds up reservations too")
                .isEqualTo(gib(60));
    }
}
