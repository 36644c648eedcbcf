package dev.ullage.worker.limits;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.limits;
import static dev.ullage.common.testing.Fixtures.rank;
import static dev.ullage.common.testing.Fixtures.token;
import static dev.ullage.common.testing.Fixtures.want;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerCommand.Acknowledge;
import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.LedgerCommand.Leave;
import dev.ullage.common.ledger.LedgerCommand.Measure;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.ledger.Refusal;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One device with a budget of 80 GiB and two ranks that have said hello. */
class KeeperLogicTest {
    private static final RankInstance A = rank(0);
    private static final RankInstance B = rank(1);
    private static final Instant START = Instant.parse("2030-01-01T00:00:00Z");
    private static final Duration RESEND_AFTER = Duration.ofSeconds(1);

    private final KeeperLogic logic = new KeeperLogic(aDevice().ledger(), RESEND_AFTER);

    @BeforeEach
    void twoRanks() {
        on(hello(A));
        on(hello(B));
    }

    private static Join hello(RankInstance rank) {
        return new Join(rank, 0, MemoryBytes.ZERO);
    }

    private KeeperLogic.Decision on(LedgerCommand command) {
        KeeperLogic.Decision decision = logic.decide(command);
        logic.commit(decision, START);
        return decision;
    }

    private KeeperLogic.Decision plan(long epoch, long revision, DesiredLimit... limits) {
        KeeperLogic.Decision decision =
                logic.desire(new Desire(token(epoch), Share.ofPercent(20), List.of(limits)), revision);
        logic.commit(decision, START);
        return decision;
    }

    @Test
    void growthThatWaitedIsGivenAsSoonAsTheShrinkIsConfirmed() {
        plan(1, 1, want(A, gib(60)), want(B, gib(20)));
        on(new Confirm(A, 1, gib(60)));
        KeeperLogic.Decision second = plan(1, 2, want(A, gib(20)), want(B, gib(60)));
        assertThat(second.orders()).extracting(Order::instance).containsExactly(A);
        assertThat(second.refusals()).extracting(Refusal::reason).containsExactly(Refusal.Reason.NO_ROOM);

        KeeperLogic.Decision confirmed = on(new Confirm(A, 2, gib(20)));

        assertThat(confirmed.orders()).containsExactly(new Order(B, 2, limits(gib(60))));
        assertThat(confirmed.refusals()).isEmpty();
    }

    @Test
    void growthThatWaitedIsGivenWhenARankLeavesOrRoomIsMeasured() {
        plan(1, 1, want(A, gib(50)), want(B, gib(50)));

        assertThat(on(new Measure(gib(200), MemoryBytes.ZERO)).orders())
                .containsExactly(new Order(B, 1, limits(gib(50))));

        plan(1, 2, want(B, gib(160)));

        assertThat(on(new Leave(A)).orders()).containsExactly(new Order(B, 2, limits(gib(160))));
    }

    @Test
    void aRankThatJoinsIsGivenWhatThePlanHasForItAlready() {
        plan(1, 1, want(rank(2), gib(10)));

        assertThat(on(hello(rank(2))).orders()).containsExactly(new Order(rank(2), 1, limits(gib(10))));
    }

    @Test
    void aDecisionThatIsNotCommittedHasNotHappened() {
        DeviceLedger before = logic.ledger();

        assertThat(logic.desire(new Desire(token(1), Share.NONE, List.of(want(A, gib(60)))), 1)
                        .orders())
                .hasSize(1);

        assertThat(logic.ledger()).isSameAs(before);
        assertThat(logic.revision()).isZero();
        assertThat(logic.repeats(START)).isEmpty();
    }

    @Test
    void anOlderRevisionOfTheSameCoordinatorIsIgnored() {
        plan(1, 5, want(A, gib(60)));

        assertThat(plan(1, 4, want(A, gib(10))).isNothing()).isTrue();
        assertThat(logic.revision()).isEqualTo(5);
        assertThat(on(new Confirm(A, 1, gib(60))).orders()).isEmpty();
    }

    @Test
    void theSameRevisionAgainChangesNothing() {
        plan(1, 5, want(A, gib(60)));

        assertThat(plan(1, 5, want(A, gib(60))).isNothing()).isTrue();
    }

    @Test
    void aNewCoordinatorStartsItsRevisionsAnew() {
        plan(1, 57, want(A, gib(60)));

        on(new Acknowledge(token(2)));

        assertThat(logic.revision()).as("none of this coordinator yet").isZero();

        plan(2, 1, want(A, gib(10)));

        assertThat(logic.revision()).isEqualTo(1);
        assertThat(logic.newestOrder(A)).contains(new Order(A, 2, limits(gib(10))));
    }

    @Test
    void aFencedCoordinatorsPlanIsNotKept() {
        on(new Acknowledge(token(2)));

        KeeperLogic.Decision decision = plan(1, 99, want(A, gib(60)));

        assertThat(decision.refusals()).extracting(Refusal::reason).containsExactly(Refusal.Reason.STALE_COORDINATOR);
        assertThat(logic.revision()).isZero();
        assertThat(on(hello(rank(2))).orders()).isEmpty();
    }

    @Test
    void anOldPlanIsNotFollowedOnceANewerCoordinatorWasSeen() {
        plan(1, 1, want(A, gib(60)), want(B, gib(60)));
        on(new Acknowledge(token(2)));

        assertThat(on(new Leave(A)).orders()).isEmpty();
    }

    @Test
    void anUnconfirmedOrderIsRepeatedOnlyAfterTheResendInterval() {
        plan(1, 1, want(A, gib(60)));

        assertThat(logic.repeats(START.plusMillis(999))).isEmpty();
        assertThat(logic.repeats(START.plusMillis(1000))).containsExactly(new Order(A, 1, limits(gib(60))));
        assertThat(logic.repeats(START.plusMillis(1999))).isEmpty();
        assertThat(logic.repeats(START.plusMillis(2000))).hasSize(1);

        on(new Confirm(A, 1, gib(60)));

        assertThat(logic.repeats(START.plusMillis(9000))).isEmpty();
    }

    @Test
    void aNewerOrderStartsTheIntervalAnew() {
        plan(1, 1, want(A, gib(60)));
        KeeperLogic.Decision second =
                logic.desire(new Desire(token(1), Share.ofPercent(20), List.of(want(A, gib(50)))), 2);
        logic.commit(second, START.plusMillis(900));

        assertThat(logic.repeats(START.plusMillis(1800))).isEmpty();
        assertThat(logic.repeats(START.plusMillis(1900))).containsExactly(new Order(A, 2, limits(gib(50))));
    }

    @Test
    void afterARestartWhatIsOutstandingIsDueAtOnce() {
        plan(1, 1, want(A, gib(60)));

        KeeperLogic restarted = new KeeperLogic(DeviceLedger.open(logic.ledger().snapshot()), RESEND_AFTER);

        assertThat(restarted.repeats(START)).containsExactly(new Order(A, 1, limits(gib(60))));
    }

    @Test
    void aRankThatSaysHelloAgainIsToldItsNewestOrderEvenIfItHadConfirmedIt() {
        assertThat(logic.newestOrder(A)).isEmpty();
        plan(1, 1, want(A, gib(60)));
        on(new Confirm(A, 1, gib(60)));

        assertThat(logic.newestOrder(A)).contains(new Order(A, 1, limits(gib(60))));
        assertThat(logic.newestOrder(rank(9))).isEmpty();
    }
}
