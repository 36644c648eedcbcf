package dev.ullage.worker.limits;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.limits;
import static dev.ullage.common.testing.Fixtures.rank;
import static dev.ullage.common.testing.Fixtures.token;
import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.ConfigFactory;
import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.LedgerWork;
import dev.ullage.common.protocol.LedgerWork.RefusalsByRule;
import dev.ullage.common.protocol.ReportNumber;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.StaleCoordinator;
import dev.ullage.common.protocol.ToWorker.DesireLimits;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import dev.ullage.common.protocol.ToWorker.RankLimit;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnReport;
import dev.ullage.common.testing.LedgerOwner;
import dev.ullage.common.testing.TestClock;
import dev.ullage.config.ClusterConfig;
import dev.ullage.worker.testing.LogWatch;
import dev.ullage.worker.turns.TurnDesk;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.ManualTime;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The keeper around the ledger: what leaves it, when, and what it does when its file cannot be written. */
class LimitKeeperTest {
    private static final PlannedNeeds.Need NEED = new PlannedNeeds.Need(gib(1), gib(2), gib(3), gib(1));
    private static final PlannedNeeds PLANNED = new PlannedNeeds(
            0, 1, true, OptionalInt.empty(), new PlannedNeeds.Phases(NEED, NEED, NEED, NEED, NEED), NEED);

    private static final ActorTestKit KIT = ActorTestKit.create(
            ManualTime.config().withFallback(ClusterConfig.localConfig()).withFallback(ConfigFactory.load()));
    private static final ManualTime TIME = ManualTime.get(KIT.system());
    private static final NodeId NODE = new NodeId("node-a");
    private static final RankInstance A = rank(0);
    private static final RankInstance B = rank(1);
    private static final Duration TICK = Duration.ofMillis(250);
    private static final Duration RESEND_AFTER = Duration.ofSeconds(1);

    @RegisterExtension
    final LogWatch log = new LogWatch();

    private final TestClock clock = new TestClock();
    private final FakeLedgerStore store = new FakeLedgerStore();
    private final TestProbe<ToCoordinator> uplink = KIT.createTestProbe();
    private final TestProbe<ToCoordinator> coordinator = KIT.createTestProbe();
    private final TestProbe<Order> rankA = KIT.createTestProbe();
    private final TestProbe<Order> rankB = KIT.createTestProbe();
    private final TurnDesk desk = new TurnDesk(Duration.ofMillis(100), clock);
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
        return KIT.spawn(LimitKeeper.create(
                new LimitKeeper.Setup(NODE, store, ledger, uplink.getRef(), desk, TICK, RESEND_AFTER, clock)));
    }

    private void hello(RankInstance rank, TestProbe<Order> listener) {
        keeper.tell(new LimitKeeper.Joined(rank, 0, MemoryBytes.ZERO, listener.getRef()));
    }

    private void plan(long epoch, long revision, RankLimit... limits) {
        keeper.tell(new LimitKeeper.Plan(new DesireLimits(
                token(epoch),
                revision,
                aDevice().opened().device(),
                Share.ofPercent(20),
                List.of(limits),
                Optional.empty(),
                coordinator.getRef())));
    }

    private static RankLimit limit(RankInstance rank, long gibibytes) {
        return new RankLimit(rank, limits(gib(gibibytes)), Share.ALL);
    }

    private void ticks(int count) {
        for (int i = 0; i < count; i++) {
            clock.advance(TICK);
            TIME.timePasses(TICK);
        }
    }

    /** So many orders, each confirmed, and every refusal by its rule; what was written is known by the store. */
    private KeeperCounts counts(long orders, MemoryBytes highest, RefusalsByRule... refused) {
        long refusals = Stream.of(refused).mapToLong(RefusalsByRule::refusals).sum();
        LedgerWork work = new LedgerWork(store.writeTimes(), List.of(refused));
        return new KeeperCounts(orders, 0, orders, refusals, highest, 0, Optional.of(work));
    }

    private LimitsReported answer() {
        return coordinator.expectMessageClass(LimitsReported.class);
    }

    @Test
    void anOrderLeavesOnlyAfterItIsWritten() {
        List<Integer> writtenBefore = new ArrayList<>();
        hello(A, rankA);
        store.beforeAppendReturns(() -> {
            rankA.expectNoMessage(Duration.ofMillis(20));
            writtenBefore.add(1);
        });

        plan(1, 1, limit(A, 30));

        rankA.expectMessage(new Order(A, 1, limits(gib(30))));
        assertThat(writtenBefore).isNotEmpty();
        assertThat(store.records())
                .last()
                .isEqualTo(List.of(
                        new LedgerEvent.TokenSeen(token(1)),
                        new LedgerEvent.LimitOrdered(A, 1, limits(gib(30)), Share.ALL)));
    }

    @Test
    void oneDecisionIsOneAppend() {
        hello(A, rankA);
        hello(B, rankB);
        plan(1, 1, limit(A, 30), limit(B, 30));
        answer();

        assertThat(store.records()).hasSize(3);
        assertThat(store.records().get(2)).hasSize(3);
    }

    // Answers and what is reported by itself go different ways, and may come in another order.
    @Test
    void reportsAreCountedOverBothWays() {
        hello(A, rankA);
        ReportNumber first =
                uplink.expectMessageClass(LimitsReported.class).number().orElseThrow();
        plan(1, 1, limit(A, 30));
        ReportNumber second = answer().number().orElseThrow();
        keeper.tell(new LimitKeeper.Confirmed(A, 1, gib(30)));
        ReportNumber third =
                uplink.expectMessageClass(LimitsReported.class).number().orElseThrow();

        assertThat(first).isEqualTo(new ReportNumber(clock.millis(), 1));
        assertThat(first.isOlderThan(second)).isTrue();
        assertThat(second.isOlderThan(third)).isTrue();
    }

    @Test
    void whenTheLedgerCannotBeWrittenNoOrderLeavesAndTheKeeperStops() {
        log.expectError("the ledger of GPU-a cannot be written");
        hello(A, rankA);
        plan(1, 1);
        answer();
        store.failFromNowOn();

        plan(1, 2, limit(A, 30));

        coordinator.expectTerminated(keeper);
        rankA.expectNoMessage(Duration.ofMillis(20));
        coordinator.expectNoMessage(Duration.ofMillis(1));
        assertThat(store.isClosed()).isTrue();
    }

    @Test
    void aStaleCoordinatorIsAnsweredAndNotObeyed() {
        hello(A, rankA);
        plan(7, 1);
        answer();

        plan(6, 1, limit(A, 30));

        coordinator.expectMessage(new StaleCoordinator(NODE, aDevice().opened().device(), token(6), token(7)));
        assertThat(answer().token()).contains(token(7));
        keeper.tell(new LimitKeeper.Learn(new LearnFrom(token(5), coordinator.getRef())));
        coordinator.expectMessage(new StaleCoordinator(NODE, aDevice().opened().device(), token(5), token(7)));
        rankA.expectNoMessage(Duration.ofMillis(20));
    }

    @Test
    void aNewCoordinatorsTokenIsWrittenBeforeItIsAnswered() {
        keeper.tell(new LimitKeeper.Learn(new LearnFrom(token(3), coordinator.getRef())));

        LimitsReported report = answer();

        assertThat(report.token()).contains(token(3));
        assertThat(report.revision()).isZero();
        assertThat(store.records()).containsExactly(List.of(new LedgerEvent.TokenSeen(token(3))));
    }

    @Test
    void aReportSaysWhatTheLedgerSaysAndWhatWasCounted() {
        hello(A, rankA);
        hello(B, rankB);
        plan(1, 4, limit(A, 60), limit(B, 30));
        rankA.receiveMessage();
        answer();
        keeper.tell(new LimitKeeper.Confirmed(A, 1, gib(60)));

        plan(1, 5, limit(A, 60), limit(B, 30));

        assertThat(answer())
                .isEqualTo(new LimitsReported(
                        NODE,
                        aDevice().opened().device(),
                        Optional.of(token(1)),
                        5,
                        new LedgerReport(
                                aDevice().terms(),
                                aDevice().terms(),
                                false,
                                List.of(
                                        new GrantReport(A, Share.ALL, Optional.of(limits(gib(60))), 1, 1, gib(60)),
                                        new GrantReport(B, Share.ALL, Optional.empty(), 0, 0, MemoryBytes.ZERO)),
                                counts(1, gib(60), new RefusalsByRule("NO_ROOM", 2)),
                                Optional.of(TurnReport.NONE),
                                Optional.of(List.of())),
                        Optional.of(new ReportNumber(clock.millis(), 5))));
    }

    @Test
    void aReportSaysHowLongEachAppendTookAndByWhichRuleItRefused() {
        hello(A, rankA);
        plan(2, 1, limit(A, 60));
        answer();
        plan(1, 1, limit(A, 30));
        coordinator.expectMessageClass(StaleCoordinator.class);
        answer();
        keeper.tell(new LimitKeeper.Confirmed(A, 9, gib(70)));
        plan(2, 2, limit(A, 60));

        LedgerWork work = answer().ledger().counts().work().orElseThrow();

        assertThat(work.writes().sumMicros()).isEqualTo(2 * FakeLedgerStore.APPEND_MICROS);
        assertThat(work.refusals())
                .containsExactly(
                        new RefusalsByRule("STALE_COORDINATOR", 1), new RefusalsByRule("IMPOSSIBLE_CONFIRMATION", 1));
    }

    // It is not the ledger's: the rank says it in each hello, and the last word counts.
    @Test
    void aReportSaysWhatARankAsksFor() {
        keeper.tell(new LimitKeeper.Joined(
                A, 0, MemoryBytes.ZERO, rankA.getRef(), Optional.of("growth"), Optional.of(PLANNED)));
        hello(B, rankB);
        plan(1, 1, limit(A, 30), limit(B, 30));

        List<GrantReport> grants = answer().ledger().grants();
        assertThat(grants).extracting(GrantReport::policy).containsExactly(Optional.of("growth"), Optional.empty());
        assertThat(grants).extracting(GrantReport::planned).containsExactly(Optional.of(PLANNED), Optional.empty());
        hello(A, rankA);
        plan(1, 2, limit(A, 30), limit(B, 30));
        assertThat(answer().ledger().grants()).extracting(GrantReport::policy).containsOnly(Optional.empty());
    }

    @Test
    void anUnconfirmedOrderIsSentAgainOnTheTickAfterTheResendInterval() {
        hello(A, rankA);
        plan(1, 1, limit(A, 30));
        Order order = rankA.receiveMessage();

        ticks(3);
        rankA.expectNoMessage(Duration.ofMillis(20));
        ticks(1);
        rankA.expectMessage(order);
        ticks(4);
        rankA.expectMessage(order);
        keeper.tell(new LimitKeeper.Confirmed(A, 1, gib(30)));
        ticks(8);

        rankA.expectNoMessage(Duration.ofMillis(20));
        answer();
        plan(1, 1, limit(A, 30));
        assertThat(answer().ledger().counts().ordersRepeated()).isEqualTo(2);
    }

    @Test
    void aReportIsSentAtLeastEveryTwoSecondsAndEverySecondWhileAnOrderIsOut() {
        ticks(7);
        uplink.expectNoMessage(Duration.ofMillis(20));
        ticks(1);
        uplink.expectMessageClass(LimitsReported.class);

        hello(A, rankA);
        uplink.expectMessageClass(LimitsReported.class);
        plan(1, 1, limit(A, 30));
        answer();
        ticks(4);
        uplink.expectMessageClass(LimitsReported.class);
    }

    @Test
    void growthThatWaitedIsOrderedWhenTheShrinkIsConfirmed() {
        hello(A, rankA);
        hello(B, rankB);
        plan(1, 1, limit(A, 80));
        rankA.receiveMessage();
        keeper.tell(new LimitKeeper.Confirmed(A, 1, gib(80)));
        plan(1, 2, limit(A, 40), limit(B, 40));
        rankA.expectMessage(new Order(A, 2, limits(gib(40))));
        rankB.expectNoMessage(Duration.ofMillis(20));

        keeper.tell(new LimitKeeper.Confirmed(A, 2, gib(40)));

        rankB.expectMessage(new Order(B, 1, limits(gib(40))));
    }

    @Test
    void aRankThatSaysHelloAgainIsSentItsNewestOrderOnItsNewListener() {
        hello(A, rankA);
        plan(1, 1, limit(A, 30));
        Order order = rankA.receiveMessage();
        keeper.tell(new LimitKeeper.Confirmed(A, 1, gib(30)));

        keeper.tell(new LimitKeeper.Joined(A, 1, gib(30), rankB.getRef()));

        rankB.expectMessage(order);
        rankA.expectNoMessage(Duration.ofMillis(20));
    }

    @Test
    void aRankThatJoinsAPlanThatWaitsForItIsToldOnce() {
        plan(1, 1, limit(A, 30));
        answer();

        hello(A, rankA);

        rankA.expectMessage(new Order(A, 1, limits(gib(30))));
        rankA.expectNoMessage(Duration.ofMillis(20));
    }

    @Test
    void aRankThatLeftIsForgottenAndItsRoomGivenAway() {
        hello(A, rankA);
        hello(B, rankB);
        plan(1, 1, limit(A, 80), limit(B, 80));
        rankA.receiveMessage();

        keeper.tell(new LimitKeeper.Left(A));

        rankB.expectMessage(new Order(B, 1, limits(gib(80))));
        ticks(8);
        rankA.expectNoMessage(Duration.ofMillis(20));
    }

    @Test
    void aRankWithALimitTheLedgerDidNotKnowIsAdoptedWithAWarning() {
        keeper.tell(new LimitKeeper.Joined(A, 41, gib(90), rankA.getRef()));
        plan(1, 1, limit(A, 30));

        rankA.expectMessage(new Order(A, 42, limits(gib(30))));
        assertThat(answer().ledger().overBudget()).isTrue();
        assertThat(log.warnings())
                .containsExactly("device=GPU-a rank=job/0@100:700 sequence=41 limit=\"90.0 GiB\""
                        + " reason=\"holds a limit this ledger did not give\"");
    }

    @Test
    void aDeviceThatBecomesTooSmallForItsPromisesIsWarnedOfOnce() {
        hello(A, rankA);
        plan(1, 1, limit(A, 80));
        answer();

        keeper.tell(new LimitKeeper.Measured(gib(50), MemoryBytes.ZERO));
        keeper.tell(new LimitKeeper.Measured(gib(51), MemoryBytes.ZERO));
        plan(1, 1, limit(A, 80));

        assertThat(answer().ledger().overBudget()).isTrue();
        assertThat(log.warnings())
                .containsExactly(
                        "device=GPU-a state=OVER_BUDGET wanted=\"40.0 GiB (allocatable 50.0 GiB, reserve 20%, foreign"
                                + " 0 B)\" promised=\"80.0 GiB\" reason=\"only shrinks until it fits\"");
    }

    @Test
    void afterARestartOrdersWaitForTheRankToComeBackAndAreNotCountedAsRepeated() {
        hello(A, rankA);
        plan(1, 1, limit(A, 30));
        rankA.receiveMessage();
        answer();
        KIT.stop(keeper);
        keeper = start(replay(aDevice().opened(), store.replay()));

        ticks(8);
        plan(1, 1, limit(A, 30));
        assertThat(answer().ledger().counts()).isEqualTo(counts(0, gib(30)));

        keeper.tell(new LimitKeeper.Joined(A, 0, MemoryBytes.ZERO, rankB.getRef()));
        rankB.expectMessage(new Order(A, 1, limits(gib(30))));
    }

    @Test
    void aLongLedgerIsCompactedToItsState() {
        hello(A, rankA);
        for (int i = 1; i <= 4100; i++) {
            keeper.tell(new LimitKeeper.Measured(gib(100 + i % 2), MemoryBytes.ZERO));
        }
        plan(1, 1, limit(A, 30));
        answer();

        assertThat(store.length()).isLessThan(4097);
        assertThat(replay(
                                store.replay().get(0),
                                store.replay().subList(1, store.replay().size()))
                        .grant(A))
                .isPresent();
    }

    private static DeviceLedger replay(LedgerEvent first, List<LedgerEvent> rest) {
        List<LedgerEvent> events = new ArrayList<>(List.of(first));
        events.addAll(rest);
        return LedgerOwner.replayed(events);
    }

    // Goal: no burst beside limits that have not made room for it. Method: a rank asks all the time.
    @Test
    void theDeskMayGiveAPoolOnceTheConfirmationsHaveMadeRoomForIt() {
        hello(A, rankA);
        desk.said(A, aDevice().opened().device(), MemoryBytes.ZERO, 0, offer -> {});
        plan(1, 1, limit(A, 60));
        keeper.tell(new LimitKeeper.Confirmed(A, 1, gib(60)));
        TurnPlan turns = new TurnPlan(gib(40), List.of(new TurnPlan.RankTurn(A, List.of(Phase.BACKWARD), gib(40))));
        keeper.tell(new LimitKeeper.Plan(new DesireLimits(
                token(1),
                2,
                aDevice().opened().device(),
                Share.ofPercent(20),
                List.of(limit(A, 30)),
                Optional.of(turns),
                coordinator.getRef())));
        assertThat(answer().ledger().inForce().pool()).isEmpty();
        LimitsReported wanted = answer();
        assertThat(wanted.ledger().wanted().pool()).contains(gib(40));
        assertThat(wanted.ledger().inForce().pool()).isEmpty();
        assertThat(desk.ask(A, 1).burst()).isEmpty();

        keeper.tell(new LimitKeeper.Confirmed(A, 2, gib(30)));
        plan(1, 1, limit(A, 30));
        assertThat(answer().ledger().inForce().pool()).contains(gib(40));
        assertThat(desk.ask(A, 2).burst()).contains(gib(40));
    }
}
