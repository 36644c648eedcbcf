package dev.ullage.coordinator;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.JOB;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.atMillis;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.joined;
import static dev.ullage.coordinator.Fixtures.ledger;
import static dev.ullage.coordinator.Fixtures.mib;
import static dev.ullage.coordinator.Fixtures.settled;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.OperatorRecord;
import dev.ullage.common.protocol.OperatorWrite;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.ToCoordinator.DrainNode;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.SetLimit;
import dev.ullage.common.protocol.ToCoordinator.SetPolicy;
import dev.ullage.common.protocol.ToCoordinator.SetPriority;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToCoordinator.UndrainNode;
import dev.ullage.common.protocol.ToCoordinator.WishesHeld;
import dev.ullage.common.protocol.ToCoordinator.WishesReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.NotKnown;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.coordinator.CoordinatorEffect.Desire;
import dev.ullage.coordinator.CoordinatorEffect.Keep;
import dev.ullage.coordinator.decisions.Decision;
import dev.ullage.coordinator.planning.RankDemands;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.Test;

/** What an operator may ask for beside reserves and shares: how it is ruled, shown, carried out and kept. */
class OperatorWritesTest {
    private static final ActorRef<ToWorker> WORKER =
            TestInbox.<ToWorker>create().getRef();
    private static final ActorRef<ToOperator> OPERATOR =
            TestInbox.<ToOperator>create().getRef();

    private CoordinatorLogic logic = coordinator("me", Optional.empty());
    private CoordinatorToken token = new CoordinatorToken(1, "me");

    /** One that has heard of the worker, and of what it keeps, and plans. */
    private static CoordinatorLogic coordinator(String uid, Optional<OperatorRecord> kept) {
        CoordinatorLogic started = new CoordinatorLogic(
                CoordinatorSettings.defaults(),
                LimitSettings.defaults(),
                new RankDemands(ObservedPredictor.PHASE_MAX),
                new NodeId("c-1"),
                uid,
                T0);
        started.onAnnounced(announced(kept), true, T0);
        started.onTick(atMillis(500));
        kept.ifPresent(record -> started.onWishes(new WishesReported(NODE, record), atMillis(500)));
        CoordinatorToken token = started.leadership().token().orElseThrow();
        started.onReported(report(token, ledger()), atMillis(500));
        started.onTick(atMillis(600));
        assertThat(started.leadership().isActive()).isTrue();
        return started;
    }

    private static WorkerAnnounced announced(Optional<OperatorRecord> kept) {
        return new WorkerAnnounced(
                NODE,
                Protocol.VERSION,
                kept.map(record -> record.stamp().token()),
                List.of(Fixtures.info(DEVICE)),
                Optional.of(new WishesHeld(kept.map(OperatorRecord::stamp))),
                WORKER);
    }

    private static LimitsReported report(CoordinatorToken token, LedgerReport ledger) {
        return new LimitsReported(NODE, DEVICE, Optional.of(token), 0, ledger);
    }

    private void reports(long millis, LedgerReport ledger) {
        logic.onReported(report(token, ledger), atMillis(millis));
    }

    private ToOperator write(OperatorWrite write) {
        return logic.onWrite(write, atMillis(800));
    }

    private List<Keep> keeps() {
        return logic.takeEffects().stream()
                .filter(Keep.class::isInstance)
                .map(Keep.class::cast)
                .toList();
    }

    /** The limits that the next tick has sent, by rank. */
    private List<MemoryBytes> planned(long millis) {
        logic.takeEffects();
        logic.onTick(atMillis(millis));
        return logic.takeEffects().stream()
                .filter(Desire.class::isInstance)
                .flatMap(effect -> ((Desire) effect).limits().stream())
                .map(limit -> limit.limits().max())
                .toList();
    }

    private String explanation(long millis) {
        return logic.status(atMillis(millis))
                .nodes()
                .get(0)
                .devices()
                .get(0)
                .explanation()
                .orElseThrow()
                .ranks()
                .toString();
    }

    @Test
    void aDrainedNodeKeepsItsRanksIsShownAndKeptByTheWorker() {
        reports(700, ledger(settled(0, gib(64))));
        ToOperator answer = write(new DrainNode(NODE, Optional.of("fan"), Optional.of("ann"), OPERATOR));

        assertThat(answer)
                .isEqualTo(new Accepted("node host-a is draining (fan), as ann asked: nothing new is placed there;"
                        + " 1 rank there stays"));
        assertThat(keeps()).singleElement().satisfies(keep -> {
            assertThat(keep.worker()).isEqualTo(NODE);
            assertThat(keep.record().stamp()).isEqualTo(new OperatorRecord.Stamp(token, 1));
            assertThat(keep.record().drains())
                    .containsExactly(new OperatorRecord.Drain(
                            NODE, atMillis(800).toEpochMilli(), Optional.of("fan"), Optional.of("ann")));
        });
        assertThat(logic.status(atMillis(900)).wishes().orElseThrow().drains()).hasSize(1);
        Decision newest = logic.decisions(Optional.empty(), Optional.empty()).get(0);
        assertThat(newest.kind()).isEqualTo(Decision.Kind.OPERATOR);
        assertThat(newest.reason()).contains("is draining (fan)");
        assertThat(logic.events(Optional.empty()).events()).last().satisfies(event -> assertThat(event.kind())
                .isEqualTo("operator-write"));

        assertThat(write(new UndrainNode(NODE, Optional.empty(), OPERATOR)))
                .isEqualTo(new Accepted("node host-a takes new ranks again"));
        assertThat(logic.status(atMillis(900)).wishes().orElseThrow().drains()).isEmpty();
    }

    @Test
    void aRankThatStartsOnADrainedNodeIsServedAndThatIsAWarning() {
        write(new DrainNode(NODE, Optional.empty(), Optional.empty(), OPERATOR));
        logic.onTick(atMillis(900));
        reports(1_000, ledger(joined(0)));

        assertThat(planned(1_100)).containsExactly(gib(64));
        assertThat(logic.events(Optional.empty()).events())
                .filteredOn(event -> event.kind().equals("rank-joined"))
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.severity()).isEqualTo(EventSeverity.WARNING);
                    assertThat(event.text()).endsWith("although the node is draining: it is served like any other");
                });
    }

    @Test
    void namesThatAreNotKnownAreRefusedWithTheNearest() {
        reports(700, ledger(settled(0, gib(64))));

        assertThat(write(new DrainNode(new NodeId("host-b"), Optional.empty(), Optional.empty(), OPERATOR)))
                .isEqualTo(new Refused(
                        "refused no node host-b (did you mean host-a?); known: host-a",
                        Optional.of(new NotKnown("node"))));
        assertThat(write(new UndrainNode(NODE, Optional.empty(), OPERATOR)))
                .isEqualTo(new Refused("refused to undrain node host-a: it is not draining; draining: none"));
        assertThat(write(new SetPolicy(JOB, Optional.of("grwth"), OPERATOR)))
                .asString()
                .contains("no policy grwth (did you mean growth?)");
        assertThat(write(new SetPriority(new JobId("jbo"), Optional.of(Priority.LOW), OPERATOR)))
                .asString()
                .contains("no job jbo")
                .contains("known: job");
        assertThat(write(new SetLimit(JOB, 7, Optional.of(gib(1)), OPERATOR)))
                .isEqualTo(
                        new Refused("refused no rank 7 of job job; known: job/0", Optional.of(new NotKnown("rank"))));
        assertThat(keeps()).isEmpty();
    }

    @Test
    void aJobsPolicyAndPriorityCountBeforeTheSettings() {
        reports(700, ledger(joined(0)));
        assertThat(write(new SetPolicy(JOB, Optional.of("priority-pool"), OPERATOR)))
                .isEqualTo(new Accepted("policy of job job: none set -> priority-pool"));
        assertThat(write(new SetPriority(JOB, Optional.of(Priority.HIGH), OPERATOR)))
                .isEqualTo(new Accepted("priority of job job: none set -> high"));
        logic.onTick(atMillis(900));

        assertThat(explanation(900)).contains("policy=priority-pool").contains("priority=Optional[high]");
        write(new SetPolicy(JOB, Optional.empty(), OPERATOR));
        write(new SetPriority(JOB, Optional.empty(), OPERATOR));
        logic.onTick(atMillis(1_000));
        assertThat(explanation(1_000)).contains("policy=rank-share").contains("priority=Optional[medium]");
        assertThat(logic.status(atMillis(1_000)).wishes().orElseThrow().jobs()).isEmpty();
    }

    @Test
    void aRanksLimitIsCarriedOutAlsoWithinTheDeadBandAndTakenBack() {
        reports(700, ledger(settled(0, gib(32)), settled(1, gib(32))));
        planned(750);
        MemoryBytes little = gib(32).minus(mib(10));
        assertThat(write(new SetLimit(JOB, 0, Optional.of(little), OPERATOR))).isInstanceOf(Accepted.class);

        assertThat(planned(900)).containsExactly(little, gib(32));
        assertThat(explanation(900)).contains("the operator set").contains("its policy gives 32.0 GiB");
        assertThat(logic.decisions(Optional.of(DEVICE), Optional.empty()).get(0).reason())
                .startsWith("limit of job/0 set to " + little + "; ");
        write(new SetLimit(JOB, 0, Optional.empty(), OPERATOR));
        assertThat(logic.status(atMillis(1_000)).wishes().orElseThrow().jobs()).isEmpty();
    }

    @Test
    void aLimitForWhichThereIsNoRoomIsRefusedWithTheNumbers() {
        reports(700, ledger(settled(0, gib(32)), settled(1, gib(32))));

        assertThat(write(new SetLimit(JOB, 0, Optional.of(gib(40)), OPERATOR)))
                .asString()
                .contains("limit of rank job/0: none set -> 40.0 GiB: it can have 32.0 GiB now")
                .contains("the other ranks have 32.0 GiB of the budget 64.0 GiB");
        assertThat(write(new SetLimit(JOB, 0, Optional.of(mib(1)), OPERATOR)))
                .asString()
                .contains("less than the minimum");

        write(new SetLimit(JOB, 1, Optional.of(gib(20)), OPERATOR));
        assertThat(write(new SetLimit(JOB, 0, Optional.of(gib(44)), OPERATOR))).isInstanceOf(Accepted.class);
        assertThat(planned(900)).containsExactly(gib(44), gib(20));
    }

    @Test
    void theNextCoordinatorKnowsWhatTheWorkerKeeps() {
        reports(700, ledger(settled(0, gib(64))));
        write(new SetShare(JOB, OptionalInt.empty(), Share.ofPercent(50), OPERATOR));
        write(new SetShare(JOB, OptionalInt.of(0), Share.ofPercent(25), OPERATOR));
        write(new SetPolicy(JOB, Optional.of("growth"), OPERATOR));
        write(new DrainNode(NODE, Optional.empty(), Optional.empty(), OPERATOR));
        List<Keep> sent = keeps();
        OperatorRecord kept = sent.get(sent.size() - 1).record();
        assertThat(kept.stamp().sequence()).isEqualTo(4);

        logic = coordinator("next", Optional.of(kept));
        token = logic.leadership().token().orElseThrow();
        reports(700, ledger(joined(0), joined(1)));

        assertThat(planned(800)).containsExactly(gib(8), gib(16));
        assertThat(explanation(800)).contains("policy=growth");
        assertThat(logic.status(atMillis(900)).wishes().orElseThrow().drains()).hasSize(1);
        write(new UndrainNode(NODE, Optional.empty(), OPERATOR));
        assertThat(keeps()).last().satisfies(keep -> assertThat(keep.record().stamp())
                .isEqualTo(new OperatorRecord.Stamp(token, 5)));
    }

    @Test
    void aCoordinatorDoesNotPlanBeforeItHasTheNewestRecordThatAWorkerAnnounced() {
        write(new DrainNode(NODE, Optional.empty(), Optional.empty(), OPERATOR));
        OperatorRecord kept = keeps().get(0).record();
        CoordinatorLogic next = new CoordinatorLogic(
                CoordinatorSettings.defaults(),
                LimitSettings.defaults(),
                new RankDemands(ObservedPredictor.PHASE_MAX),
                new NodeId("c-1"),
                "next",
                T0);
        next.onAnnounced(announced(Optional.of(kept)), true, T0);
        next.onTick(atMillis(500));
        next.onReported(report(next.leadership().token().orElseThrow(), ledger()), atMillis(500));
        next.onTick(atMillis(600));
        assertThat(next.leadership().isActive()).isFalse();

        next.onWishes(new WishesReported(NODE, kept), atMillis(650));
        next.onTick(atMillis(700));

        assertThat(next.leadership().isActive()).isTrue();
    }

    @Test
    void aWorkerThatDidNotGetItIsSentItAgainAndOneThatKeepsNothingNever() {
        write(new DrainNode(NODE, Optional.empty(), Optional.empty(), OPERATOR));
        OperatorRecord record = keeps().get(0).record();
        logic.onTick(atMillis(850));
        assertThat(keeps()).isEmpty();
        long later = 800 + CoordinatorSettings.defaults().resendAfter().toMillis();
        logic.onTick(atMillis(later));
        assertThat(keeps()).hasSize(1);
        logic.onAnnounced(announced(Optional.of(record)), false, atMillis(later));
        logic.onTick(atMillis(2 * later));
        assertThat(keeps()).isEmpty();

        NodeId older = new NodeId("older");
        logic.onAnnounced(Fixtures.announced(older, Optional.empty(), WORKER), true, atMillis(2 * later));
        logic.onTick(atMillis(3 * later));
        assertThat(keeps()).isEmpty();
    }

    @Test
    void aJobsWishesAreForgottenAnHourAfterItsLastRank() {
        reports(700, ledger(settled(0, gib(64))));
        write(new SetPriority(JOB, Optional.of(Priority.LOW), OPERATOR));
        logic.onTick(atMillis(900));
        reports(1_000, ledger());
        logic.takeEffects();
        long hour = 3_600_000;
        logic.onAnnounced(announced(Optional.empty()), false, atMillis(hour));
        logic.onTick(atMillis(hour));
        assertThat(logic.status(atMillis(hour)).wishes().orElseThrow().jobs()).hasSize(1);
        logic.takeEffects();
        logic.onTick(atMillis(hour + 2_000));

        assertThat(logic.status(atMillis(hour + 2_000)).wishes().orElseThrow().jobs())
                .isEmpty();
        assertThat(keeps())
                .singleElement()
                .satisfies(keep -> assertThat(keep.record().jobs()).isEmpty());
    }

    @Test
    void thereIsABoundAndItIsSaid() {
        for (int i = 0; i <= OperatorRecord.MAX_DRAINS; i++) {
            NodeId node = new NodeId("n" + i);
            logic.onAnnounced(Fixtures.announced(node, Optional.empty(), WORKER), true, atMillis(700));
            ToOperator answer = write(new DrainNode(node, Optional.empty(), Optional.empty(), OPERATOR));
            assertThat(answer).isInstanceOf(i < OperatorRecord.MAX_DRAINS ? Accepted.class : Refused.class);
        }
        assertThat(logic.status(atMillis(900)).wishes().orElseThrow().drains()).hasSize(OperatorRecord.MAX_DRAINS);
    }
}
