package dev.ullage.coordinator.events;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.JOB;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.TOKEN;
import static dev.ullage.coordinator.Fixtures.announced;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.joined;
import static dev.ullage.coordinator.Fixtures.ledger;
import static dev.ullage.coordinator.Fixtures.report;
import static dev.ullage.coordinator.Fixtures.settled;
import static dev.ullage.coordinator.Fixtures.terms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.EventId;
import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ClusterEvent;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.Events;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.coordinator.leadership.Leadership;
import dev.ullage.coordinator.leadership.LeadershipState;
import dev.ullage.coordinator.leadership.TokenClaim;
import dev.ullage.coordinator.planning.DevicePlan;
import dev.ullage.coordinator.planning.PlanReason;
import dev.ullage.coordinator.rollout.Rollouts;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.Test;

class EventLogTest {
    private static final NodeId OTHER_NODE = new NodeId("host-b");
    private static final DeviceId OTHER_DEVICE = new DeviceId("GPU-b0");
    private static final MemoryBytes NO_FOREIGN = MemoryBytes.ZERO;

    private final ActorRef<ToWorker> worker = TestInbox.<ToWorker>create().getRef();
    private final EventLog log = new EventLog();
    private ClusterView view = ClusterView.EMPTY.with(announced(NODE, Optional.empty(), worker, DEVICE), T0);
    private Rollouts rollouts = Rollouts.NONE;
    private Instant now = T0;

    private static Leadership active(CoordinatorToken token) {
        return new Leadership(
                LeadershipState.ACTIVE, new TokenClaim(token.uid(), token.epoch()), Optional.of(token), T0, 0);
    }

    private void observe() {
        observe(active(TOKEN));
    }

    private void observe(Leadership leadership) {
        now = now.plusSeconds(1);
        log.observe(new Seen(NODE, leadership, view, rollouts), now);
    }

    private void observeLedger(LedgerReport ledger) {
        view = view.with(report(1, ledger), now);
        observe();
    }

    private List<ClusterEvent> all() {
        return log.after(Optional.empty()).events();
    }

    private ClusterEvent last() {
        return all().get(all().size() - 1);
    }

    private List<String> kindsAfterTheFirst() {
        return all().stream().skip(1).map(ClusterEvent::kind).toList();
    }

    @Test
    void beginsWithWhoPlansAndThatNothingBeforeItIsKnown() {
        view = view.with(report(1, ledger(joined(0))), T0);
        observe();

        assertThat(all()).hasSize(1);
        assertThat(last().id()).isEqualTo(new EventId(TOKEN.epoch(), 1));
        assertThat(last().epochMillis()).isEqualTo(now.toEpochMilli());
        assertThat(last().text())
                .isEqualTo("the coordinator on host-a plans, as number 1, for 1 device of 1 node with 1 rank;"
                        + " events from before it are not known");
    }

    @Test
    void nothingIsKeptBeforeItIsActive() {
        log.add(Change.info(EventKind.OPERATOR_WRITE, About.CLUSTER, "too early"), T0);
        observe(Leadership.start("me", T0));

        assertThat(log.after(Optional.empty())).isEqualTo(new Events(List.of(), true));
    }

    @Test
    void whatDoesNotChangeIsNoEvent() {
        observe();
        observe();
        observeLedger(ledger(settled(0, gib(32))));
        int events = all().size();
        observeLedger(ledger(settled(0, gib(32))));

        assertThat(all()).hasSize(events);
    }

    @Test
    void aRankJoinsGetsALimitAnotherLimitAndLeaves() {
        observe();
        observeLedger(ledger(joined(0)));
        observeLedger(ledger(settled(0, gib(64))));
        observeLedger(ledger(settled(0, gib(32))));
        observeLedger(ledger());

        assertThat(all().stream().skip(1).map(ClusterEvent::text))
                .containsExactly(
                        "rank job/0 (process 100) joined GPU 0 of host-a",
                        "limit of rank job/0 on GPU 0 of host-a: none -> 64.0 GiB; an order of an earlier coordinator",
                        "limit of rank job/0 on GPU 0 of host-a: 64.0 GiB -> 32.0 GiB; an order of an earlier"
                                + " coordinator",
                        "rank job/0 (process 100) left GPU 0 of host-a: its ceiling of 32.0 GiB is free again");
        assertThat(kindsAfterTheFirst()).containsExactly("rank-joined", "limit-changed", "limit-changed", "rank-left");
        assertThat(last().about()).isEqualTo(About.device(NODE, DEVICE).withRank(JOB, 0));
    }

    @Test
    void aLimitSaysWhyItWasPlanned() {
        observe();
        DevicePlan plan = new DevicePlan(
                DEVICE, Share.ofPercent(20), List.of(), new PlanReason("a rank joined; 1 rank, budget 64.0 GiB"));
        rollouts = rollouts.planned(List.of(plan), 1, now);
        observeLedger(ledger(settled(0, gib(64))));

        assertThat(last().text()).endsWith("none -> 64.0 GiB; a rank joined; 1 rank, budget 64.0 GiB");
    }

    @Test
    void aStalledRolloutIsSaidOnce() {
        observe();
        DevicePlan plan = new DevicePlan(DEVICE, Share.ofPercent(20), List.of(), new PlanReason("why"));
        rollouts = rollouts.planned(List.of(plan), 7, now).onSent(List.of(DEVICE), now);
        observe();
        rollouts = rollouts.onTick(now.plusSeconds(60), Duration.ofSeconds(10));
        observe();
        observe();

        assertThat(kindsAfterTheFirst()).containsExactly("rollout-stalled");
        assertThat(last().text()).startsWith("revision 7 of GPU 0 of host-a is stalled: why");
        assertThat(last().severity()).isEqualTo(EventSeverity.WARNING);
    }

    @Test
    void theReserveIsWantedThenInForce() {
        LedgerReport before = ledger();
        LedgerReport wanted = new LedgerReport(
                before.wanted().withReserve(Share.ofPercent(30)), before.inForce(), false, List.of(), before.counts());
        LedgerReport inForce = new LedgerReport(wanted.wanted(), wanted.wanted(), false, List.of(), before.counts());
        view = view.with(report(1, before), T0);
        observe();
        observeLedger(wanted);
        observeLedger(inForce);

        assertThat(all().stream().skip(1).map(ClusterEvent::text))
                .containsExactly(
                        "reserve of GPU 0 of host-a: 30% wanted, was 20%",
                        "reserve of GPU 0 of host-a: 30% in force, was 20%");
    }

    @Test
    void aDeviceGoesOverItsBudgetAndComesBack() {
        GrantReport grant = settled(0, gib(70));
        LedgerReport over = new LedgerReport(
                terms(gib(80), NO_FOREIGN), terms(gib(80), NO_FOREIGN), true, List.of(grant), KeeperCounts.NONE);
        view = view.with(report(1, ledger(grant)), T0);
        observe();
        observeLedger(over);
        assertThat(last().text()).isEqualTo("GPU 0 of host-a is over its budget: 70.0 GiB promised, budget 64.0 GiB");
        observeLedger(ledger(grant));

        assertThat(kindsAfterTheFirst()).containsExactly("over-budget", "within-budget");
    }

    @Test
    void refusalsAreCountedAndARestartedWorkerRefusedNothing() {
        view = view.with(report(1, refusing(2)), T0);
        observe();
        observeLedger(refusing(5));
        observeLedger(refusing(0));

        assertThat(kindsAfterTheFirst()).containsExactly("refused");
        assertThat(last().text()).contains("refused 3 times");
    }

    private static LedgerReport refusing(long times) {
        LedgerReport ledger = ledger();
        return new LedgerReport(
                ledger.wanted(), ledger.inForce(), false, List.of(), new KeeperCounts(0, 0, 0, times, gib(0), 0));
    }

    @Test
    void aDeviceIsStaleThenLostThenReadAgain() {
        observe();
        for (SampleState state : List.of(SampleState.FRESH, SampleState.STALE, SampleState.LOST, SampleState.FRESH)) {
            view = view.with(new DeviceWatched(NODE, DEVICE, new SampleQuality(state, 4)), now);
            observe();
        }

        assertThat(kindsAfterTheFirst()).containsExactly("device-stale", "device-lost", "device-recovered");
        assertThat(last().text()).isEqualTo("GPU 0 of host-a is read again, after it was lost");
    }

    @Test
    void nodesAndDevicesComeAndGo() {
        observe();
        view = view.with(announced(OTHER_NODE, Optional.empty(), worker, OTHER_DEVICE), T0.plusSeconds(100));
        observe();
        view = view.with(announced(OTHER_NODE, Optional.empty(), worker), T0.plusSeconds(100));
        observe();
        view = view.with(announced(OTHER_NODE, Optional.empty(), worker, OTHER_DEVICE), T0.plusSeconds(100));
        observe();
        view = view.forgetting(T0.plusSeconds(130), Duration.ofSeconds(60));
        observe();

        assertThat(kindsAfterTheFirst())
                .containsExactly("node-joined", "device-gone", "device-found", "node-forgotten");
        assertThat(last().text()).startsWith("node host-a was silent since 2026-01-01T00:00:00Z");
    }

    @Test
    void aFencedCoordinatorSaysSoAndCountsAnewUnderItsNextEpoch() {
        observe();
        observe(Leadership.start("me", T0));
        observe(Leadership.start("me", T0));
        observe(active(new CoordinatorToken(5, "me")));

        assertThat(kindsAfterTheFirst()).containsExactly("coordinator-fenced", "coordinator-active");
        assertThat(last().id()).isEqualTo(new EventId(5, 1));
        assertThat(last().text()).doesNotContain("not known");
    }

    @Test
    void aReaderGoesOnAfterTheLastItKnows() {
        observe();
        observeLedger(ledger(joined(0)));
        observeLedger(ledger(settled(0, gib(32))));

        Events rest = log.after(Optional.of(new EventId(1, 2)));

        assertThat(rest.isComplete()).isTrue();
        assertThat(rest.events()).extracting(event -> event.id().sequence()).containsExactly(3L);
        assertThat(log.after(Optional.of(new EventId(1, 3)))).isEqualTo(new Events(List.of(), true));
    }

    @Test
    void aReaderOfAnotherCoordinatorsEventsGetsAllAndIsTold() {
        observe(active(new CoordinatorToken(5, "me")));

        for (EventId strange : List.of(new EventId(4, 9), new EventId(5, 2), new EventId(6, 1))) {
            Events events = log.after(Optional.of(strange));
            assertThat(events.isComplete()).as(strange.toString()).isFalse();
            assertThat(events.events()).as(strange.toString()).hasSize(1);
        }
    }

    @Test
    void keepsOnlyTheLastAndSaysThatSomeAreGone() {
        observe();
        for (int i = 0; i < EventLog.KEPT; i++) {
            log.add(Change.info(EventKind.OPERATOR_WRITE, About.CLUSTER, "write " + i), now);
        }

        assertThat(all()).hasSize(EventLog.KEPT);
        assertThat(all().get(0).id()).isEqualTo(new EventId(1, 2));
        assertThat(log.after(Optional.empty()).isComplete()).isFalse();
        assertThat(log.after(Optional.of(new EventId(1, 1))).isComplete()).isTrue();
    }
}
