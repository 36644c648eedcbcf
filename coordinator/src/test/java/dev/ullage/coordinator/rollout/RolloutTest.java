package dev.ullage.coordinator.rollout;

import static dev.ullage.common.model.RolloutState.GROWING;
import static dev.ullage.common.model.RolloutState.PENDING;
import static dev.ullage.common.model.RolloutState.SENT;
import static dev.ullage.common.model.RolloutState.SETTLED;
import static dev.ullage.common.model.RolloutState.SHRINKING;
import static dev.ullage.common.model.RolloutState.STALLED;
import static dev.ullage.common.model.RolloutState.SUPERSEDED;
import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.RESERVE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.atMillis;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.joined;
import static dev.ullage.coordinator.Fixtures.ledger;
import static dev.ullage.coordinator.Fixtures.limits;
import static dev.ullage.coordinator.Fixtures.ordered;
import static dev.ullage.coordinator.Fixtures.rank;
import static dev.ullage.coordinator.Fixtures.report;
import static dev.ullage.coordinator.Fixtures.settled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.coordinator.planning.DevicePlan;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.PlanReason;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RolloutTest {
    private static final long REVISION = 7;
    private static final Duration STALL_AFTER = Duration.ofSeconds(10);
    private static final Duration RESEND_AFTER = Duration.ofSeconds(2);

    /** Rank 0 shrinks from 64 GiB to make room for rank 1. */
    private static final DevicePlan PLAN = plan(
            new PlannedLimit(rank(0), limits(gib(32)), Share.ALL, new PlanReason("half")),
            new PlannedLimit(rank(1), limits(gib(32)), Share.ALL, new PlanReason("half")));

    private static final GrantReport[] SHRINK_NOT_CONFIRMED = {ordered(0, gib(32), gib(64)), joined(1)};
    private static final GrantReport[] GROW_NOT_CONFIRMED = {settled(0, gib(32)), ordered(1, gib(32), gib(32))};
    private static final GrantReport[] ALL_CONFIRMED = {settled(0, gib(32)), settled(1, gib(32))};

    private static DevicePlan plan(PlannedLimit... limits) {
        return new DevicePlan(DEVICE, RESERVE, List.of(limits), new PlanReason("joined job/1"));
    }

    /** A rollout in this state. */
    private static Rollout in(RolloutState state) {
        Rollout pending = Rollout.planned(PLAN, REVISION, T0);
        return switch (state) {
            case PENDING -> pending;
            case SENT -> pending.onSent(T0);
            case SHRINKING -> in(SENT).onReport(report(REVISION, ledger(SHRINK_NOT_CONFIRMED)), T0);
            case GROWING -> in(SENT).onReport(report(REVISION, ledger(GROW_NOT_CONFIRMED)), T0);
            case SETTLED -> in(SENT).onReport(report(REVISION, ledger(ALL_CONFIRMED)), T0);
            case STALLED -> in(SHRINKING).onTick(T0.plus(STALL_AFTER), STALL_AFTER);
            case SUPERSEDED -> pending.superseded(T0);
        };
    }

    static Stream<Arguments> reports() {
        return Stream.of(
                // state before, what the ledger says, state after
                Arguments.of(PENDING, SHRINK_NOT_CONFIRMED, PENDING),
                Arguments.of(PENDING, GROW_NOT_CONFIRMED, PENDING),
                Arguments.of(PENDING, ALL_CONFIRMED, PENDING),
                Arguments.of(SENT, SHRINK_NOT_CONFIRMED, SHRINKING),
                Arguments.of(SENT, GROW_NOT_CONFIRMED, GROWING),
                Arguments.of(SENT, ALL_CONFIRMED, SETTLED),
                Arguments.of(SHRINKING, SHRINK_NOT_CONFIRMED, SHRINKING),
                Arguments.of(SHRINKING, GROW_NOT_CONFIRMED, GROWING),
                Arguments.of(SHRINKING, ALL_CONFIRMED, SETTLED),
                Arguments.of(GROWING, SHRINK_NOT_CONFIRMED, SHRINKING),
                Arguments.of(GROWING, GROW_NOT_CONFIRMED, GROWING),
                Arguments.of(GROWING, ALL_CONFIRMED, SETTLED),
                Arguments.of(STALLED, SHRINK_NOT_CONFIRMED, STALLED),
                Arguments.of(STALLED, GROW_NOT_CONFIRMED, STALLED),
                Arguments.of(STALLED, ALL_CONFIRMED, SETTLED),
                Arguments.of(SETTLED, SHRINK_NOT_CONFIRMED, SETTLED),
                Arguments.of(SETTLED, GROW_NOT_CONFIRMED, SETTLED),
                Arguments.of(SETTLED, ALL_CONFIRMED, SETTLED),
                Arguments.of(SUPERSEDED, SHRINK_NOT_CONFIRMED, SUPERSEDED),
                Arguments.of(SUPERSEDED, GROW_NOT_CONFIRMED, SUPERSEDED),
                Arguments.of(SUPERSEDED, ALL_CONFIRMED, SUPERSEDED));
    }

    @ParameterizedTest
    @MethodSource("reports")
    void aReportOfThisRevisionMovesItAlong(RolloutState before, GrantReport[] grants, RolloutState after) {
        assertThat(in(before).state()).isEqualTo(before);
        assertThat(in(before).onReport(report(REVISION, ledger(grants)), T0).state())
                .isEqualTo(after);
    }

    static Stream<Arguments> transitions() {
        return Stream.of(
                Arguments.of(PENDING, Set.of(SENT, SUPERSEDED)),
                Arguments.of(SENT, Set.of(SHRINKING, GROWING, SETTLED, STALLED, SUPERSEDED)),
                Arguments.of(SHRINKING, Set.of(GROWING, SETTLED, STALLED, SUPERSEDED)),
                Arguments.of(GROWING, Set.of(SHRINKING, SETTLED, STALLED, SUPERSEDED)),
                Arguments.of(STALLED, Set.of(SETTLED, SUPERSEDED)),
                Arguments.of(SETTLED, Set.of()),
                Arguments.of(SUPERSEDED, Set.of()));
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void eachStateAllowsTheseAndNoOthers(RolloutState from, Set<RolloutState> allowed) {
        assertThat(Rollout.next(from)).isEqualTo(allowed);
        assertThat(in(from).isOnItsWay()).isEqualTo(!allowed.isEmpty());
        for (RolloutState to : RolloutState.values()) {
            if (allowed.contains(to)) {
                assertThat(in(from).to(to, T0, List.of()).state()).isEqualTo(to);
            } else {
                assertThatThrownBy(() -> in(from).to(to, T0, List.of()))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageStartingWith("rollout 7 of GPU-a0: %s -> %s is not allowed; allowed: [", from, to);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void stallsWhenItIsLateUnlessItWasNeverSentOrIsOver(RolloutState from, Set<RolloutState> allowed) {
        Rollout rollout = in(from);

        RolloutState expected = allowed.contains(STALLED) ? STALLED : from;
        assertThat(rollout.onTick(atMillis(9_999), STALL_AFTER)).isEqualTo(rollout);
        assertThat(rollout.onTick(atMillis(10_000), STALL_AFTER).state()).isEqualTo(expected);
    }

    @Test
    void aReportOfAnotherRevisionSaysNothing() {
        assertThat(in(SENT).onReport(report(REVISION - 1, ledger(ALL_CONFIRMED)), T0))
                .isEqualTo(in(SENT));
    }

    @Test
    void aRankThatNeverConfirmsShowsWhoSinceWhenAndWhatItMayHold() {
        assertThat(in(STALLED).status(atMillis(12_000)).reason())
                .isEqualTo("joined job/1; stalled since 2026-01-01T00:00:10Z; waiting for "
                        + "rank job/0@100:1 may hold 64.0 GiB, wanted 32.0 GiB, "
                        + "rank job/1@101:1 may hold 0 B, wanted 32.0 GiB");
        assertThat(in(STALLED).status(atMillis(12_000)).millis()).isEqualTo(12_000);
    }

    @Test
    void aStalledRolloutSaysWhatItWaitsForByTheNewestReport() {
        Rollout later = in(STALLED).onReport(report(REVISION, ledger(GROW_NOT_CONFIRMED)), atMillis(11_000));

        assertThat(later.waitingFor()).containsExactly("rank job/1@101:1 may hold 32.0 GiB, wanted 32.0 GiB");
        assertThat(later.since()).isEqualTo(atMillis(10_000));
    }

    @Test
    void aWorkerThatDoesNotAnswerIsNamedAsThat() {
        assertThat(in(SENT).onTick(atMillis(10_000), STALL_AFTER).explain())
                .isEqualTo("joined job/1; stalled since 2026-01-01T00:00:10Z; no report of revision 7");
    }

    @Test
    void aRankThatHasLeftIsNotWaitedFor() {
        assertThat(in(SENT).onReport(report(REVISION, ledger(settled(0, gib(32)))), T0)
                        .state())
                .isEqualTo(SETTLED);
    }

    @Test
    void aRaisedReserveIsSettledOnlyWhenItIsInForce() {
        BudgetTerms wanted = new BudgetTerms(gib(80), RESERVE, MemoryBytes.ZERO);
        LedgerReport report = new LedgerReport(
                wanted, wanted.withReserve(Share.ofPercent(10)), true, List.of(ALL_CONFIRMED), KeeperCounts.NONE);

        Rollout rollout = in(SENT).onReport(report(REVISION, report), T0);

        assertThat(rollout.state()).isEqualTo(SHRINKING);
        assertThat(rollout.waitingFor()).containsExactly("reserve 10% in force, wanted 20%");
    }

    @Test
    void isSentAgainAtItsOwnPaceUntilItIsOver() {
        assertThat(in(PENDING).isDue(T0, RESEND_AFTER)).isTrue();
        for (RolloutState state : List.of(SENT, SHRINKING, GROWING, STALLED)) {
            assertThat(in(state).isDue(atMillis(1_999), RESEND_AFTER)).isFalse();
            assertThat(in(state).isDue(atMillis(2_000), RESEND_AFTER)).isTrue();
            Rollout again = in(state).onSent(atMillis(2_000));
            assertThat(again.state()).isEqualTo(state);
            assertThat(again.isDue(atMillis(3_999), RESEND_AFTER)).isFalse();
        }
        assertThat(in(SETTLED).isDue(atMillis(60_000), RESEND_AFTER)).isFalse();
        assertThat(in(SUPERSEDED).isDue(atMillis(60_000), RESEND_AFTER)).isFalse();
    }

    @Test
    void aNewPlanSupersedesTheOneOnItsWayAndLeavesASettledOneAsItIs() {
        Rollouts first = Rollouts.NONE.planned(List.of(PLAN), 1, T0).onSent(List.of(DEVICE), T0);
        Rollouts done = first.onReport(report(1, ledger(ALL_CONFIRMED)), atMillis(40));

        Rollouts hasty = first.planned(List.of(PLAN), 2, atMillis(500));
        Rollouts patient = done.planned(List.of(PLAN), 2, atMillis(500));

        assertThat(hasty.statuses(atMillis(900)))
                .extracting(status -> status.revision() + " " + status.state() + " " + status.millis())
                .containsExactly("1 SUPERSEDED 500", "2 PENDING 400");
        assertThat(patient.statuses(atMillis(900)))
                .extracting(status -> status.revision() + " " + status.state() + " " + status.millis())
                .containsExactly("1 SETTLED 40", "2 PENDING 400");
        assertThat(done.onTheirWay()).isEmpty();
        assertThat(first.onTheirWay()).containsOnlyKeys(DEVICE);
    }

    @Test
    void onlyTheLastRolloutsAreKept() {
        Rollouts rollouts = IntStream.rangeClosed(1, 400)
                .boxed()
                .reduce(
                        Rollouts.NONE,
                        (sofar, revision) -> sofar.planned(List.of(PLAN), revision, T0),
                        (left, right) -> right);

        assertThat(rollouts.statuses(T0)).hasSize(Rollouts.MAX_SHOWN);
        assertThat(rollouts.statuses(T0).get(0).revision()).isEqualTo(145);
        assertThat(rollouts.statuses(T0).get(255).revision()).isEqualTo(400);
    }
}
