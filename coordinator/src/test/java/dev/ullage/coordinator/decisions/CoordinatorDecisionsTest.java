package dev.ullage.coordinator.decisions;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.JOB;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.announced;
import static dev.ullage.coordinator.Fixtures.atMillis;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.joined;
import static dev.ullage.coordinator.Fixtures.ledger;
import static dev.ullage.coordinator.Fixtures.rank;
import static dev.ullage.coordinator.Fixtures.settled;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.ToCoordinator.DecisionsQuery;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.ReleaseCaches;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.Decisions;
import dev.ullage.common.protocol.ToOperator.NotKnown;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.coordinator.CoordinatorEffect.Recorded;
import dev.ullage.coordinator.CoordinatorEffect.Release;
import dev.ullage.coordinator.CoordinatorLogic;
import dev.ullage.coordinator.Fixtures;
import dev.ullage.coordinator.decisions.Decision.Kind;
import dev.ullage.coordinator.journal.DecisionPages;
import dev.ullage.coordinator.planning.PlanGuard.Rule;
import dev.ullage.coordinator.planning.RankDemands;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the coordinator records of what it decides. */
class CoordinatorDecisionsTest {
    private static final CoordinatorToken MINE = new CoordinatorToken(1, "me");
    private static final ActorRef<ToWorker> WORKER =
            TestInbox.<ToWorker>create().getRef();
    private static final ActorRef<ToOperator> OPERATOR =
            TestInbox.<ToOperator>create().getRef();

    private final CoordinatorLogic logic = new CoordinatorLogic(
            CoordinatorSettings.defaults(),
            LimitSettings.defaults(),
            new RankDemands(ObservedPredictor.PHASE_MAX),
            new NodeId("c-1"),
            "me",
            T0);
    private final List<Decision> recorded = new ArrayList<>();

    @BeforeEach
    void aWorkerIsThere() {
        logic.onAnnounced(announced(NODE, Optional.empty(), WORKER, DEVICE), true, T0);
        logic.onTick(atMillis(500));
        reports(500, ledger());
        logic.onTick(atMillis(600));
        assertThat(logic.leadership().isActive()).isTrue();
    }

    private void reports(long millis, LedgerReport ledger) {
        logic.onReported(new LimitsReported(NODE, DEVICE, Optional.of(MINE), 0, ledger), atMillis(millis));
    }

    private List<Decision> recorded() {
        logic.takeEffects().forEach(effect -> {
            if (effect instanceof Recorded one) {
                recorded.add(one.decision());
            }
        });
        return recorded;
    }

    @Test
    void aPlanIsRecordedOnceWithWhatItFollowsFrom() {
        reports(700, ledger(joined(0)));
        logic.onTick(atMillis(800));
        logic.onTick(atMillis(900));

        List<Decision> plans =
                recorded().stream().filter(one -> one.kind() == Kind.PLAN).toList();
        Decision last = plans.get(plans.size() - 1);
        assertThat(last.stamp().token()).isEqualTo(MINE);
        assertThat(last.stamp().at()).isEqualTo(atMillis(800));
        assertThat(last.subject()).isEqualTo(new Decision.Subject(Optional.of(DEVICE), List.of(JOB)));
        assertThat(last.reason()).startsWith("joined job/0");
        assertThat(last.planning().orElseThrow().revision())
                .isEqualTo(OptionalLong.of(
                        logic.rollouts().of(DEVICE).orElseThrow().revision()));
        assertThat(last.planning().orElseThrow().input().reportAge().toMillis()).isEqualTo(100);
        assertThat(recorded)
                .extracting(one -> one.stamp().number())
                .startsWith(1L)
                .doesNotHaveDuplicates();
    }

    @Test
    void whatIsHeldBackIsRecordedOnceForEachTime() {
        reports(700, ledger(settled(0, gib(64))));
        logic.onTick(atMillis(800));
        recorded();
        recorded.clear();
        reports(900, ledger(settled(0, gib(64)), joined(1)));
        logic.onTick(atMillis(900 + 5_001));
        logic.onTick(atMillis(900 + 5_101));

        assertThat(recorded()).hasSize(1);
        Decision held = recorded.get(0);
        assertThat(held.kind()).isEqualTo(Kind.HELD_BACK);
        assertThat(held.planning().orElseThrow().outcome().heldBack()).contains(Rule.FRESHNESS);
        assertThat(held.planning().orElseThrow().revision()).isEmpty();
        assertThat(Rerun.of(held.planning().orElseThrow(), Optional.empty()).differences())
                .isEmpty();
    }

    @Test
    void operatorsWritesAreRecordedAcceptedOrNot() {
        reports(700, ledger(settled(0, gib(64))));
        recorded();
        recorded.clear();
        logic.onWrite(new SetReserve(Optional.of(DEVICE), Share.ofPercent(30), OPERATOR), atMillis(800));
        logic.onWrite(new SetShare(new JobId("x"), OptionalInt.empty(), Share.ALL, OPERATOR), atMillis(800));

        assertThat(recorded()).extracting(Decision::kind).containsExactly(Kind.OPERATOR, Kind.OPERATOR);
        assertThat(recorded.get(0).reason()).isEqualTo("reserve of " + DEVICE + ": 20% -> 30%");
        assertThat(recorded.get(0).subject().device()).contains(DEVICE);
        assertThat(recorded.get(1).reason()).startsWith("refused no job x");
    }

    @Test
    void cachesAreAskedForAtTheWorkersThatHaveTheRanksAndThatIsRecorded() {
        reports(700, ledger(settled(0, gib(32)), settled(1, gib(32))));
        recorded();
        recorded.clear();

        assertThat(logic.onWrite(new ReleaseCaches(JOB, OptionalInt.of(1), OPERATOR), atMillis(800)))
                .isEqualTo(
                        new Accepted("rank job/1: 1 process asked to give the cache back at the next change of phase"));
        assertThat(logic.takeEffects())
                .contains(new Release(NODE, MINE, List.of(rank(1))))
                .anyMatch(effect -> effect instanceof Recorded one
                        && one.decision().kind() == Kind.OPERATOR
                        && one.decision().reason().startsWith("rank job/1: 1 process asked"));

        logic.onWrite(new ReleaseCaches(JOB, OptionalInt.empty(), OPERATOR), atMillis(800));
        assertThat(logic.takeEffects()).contains(new Release(NODE, MINE, List.of(rank(0), rank(1))));
    }

    @Test
    void aCacheThatNobodyHasIsRefusedByName() {
        reports(700, ledger(settled(0, gib(32))));

        assertThat(logic.onWrite(new ReleaseCaches(JOB, OptionalInt.of(7), OPERATOR), atMillis(800)))
                .isEqualTo(
                        new Refused("refused no rank 7 of job job; known: job/0", Optional.of(new NotKnown("rank"))));
        assertThat(logic.onWrite(new ReleaseCaches(new JobId("x"), OptionalInt.empty(), OPERATOR), atMillis(800)))
                .isEqualTo(new Refused("refused no job x; known: job", Optional.of(new NotKnown("job"))));
        assertThat(logic.takeEffects()).noneMatch(effect -> effect instanceof Release);
    }

    @Test
    void theNewestIsFirstAndPagesAreOfWhatWasAskedFor() {
        for (int i = 0; i < DecisionBook.KEPT + 5; i++) {
            logic.onWrite(new SetShare(new JobId("x"), OptionalInt.empty(), Share.ALL, OPERATOR), atMillis(800));
        }

        List<Decision> all = logic.decisions(Optional.empty(), Optional.empty());
        assertThat(all).hasSize(DecisionBook.KEPT);
        assertThat(all.get(0).stamp().number()).isEqualTo(all.get(1).stamp().number() + 1);
        assertThat(logic.isEveryDecisionKept()).isFalse();
        assertThat(logic.decisions(Optional.of(new DeviceId("GPU-none")), Optional.empty()))
                .isEmpty();
        assertThat(logic.decisions(Optional.empty(), Optional.of(new JobId("x"))))
                .hasSize(DecisionBook.KEPT);

        Decisions page = DecisionPages.answer(
                all, false, new DecisionsQuery(Optional.empty(), Optional.empty(), 498, 10, OPERATOR));
        assertThat(page.records()).hasSize(2);
        assertThat(page.total()).isEqualTo(DecisionBook.KEPT);
    }

    // Goal: no page is too large for a message between nodes. Method: a plan of so many ranks that two do not fit, and
    // one of so many that not even one does.
    @Test
    void aPageIsNoLargerThanAMessage() {
        reports(700, ledger(IntStream.range(0, 200).mapToObj(Fixtures::joined).toArray(GrantReport[]::new)));
        logic.onTick(atMillis(800));
        Decision large = logic.decisions(Optional.of(DEVICE), Optional.empty()).get(0);
        DecisionsQuery query = new DecisionsQuery(Optional.empty(), Optional.empty(), 0, 10, OPERATOR);

        Decisions some = DecisionPages.answer(Collections.nCopies(10, large), true, query);
        assertThat(some.records()).hasSizeBetween(1, 9);
        assertThat(some.total()).isEqualTo(10);

        reports(900, ledger(IntStream.range(0, 900).mapToObj(Fixtures::joined).toArray(GrantReport[]::new)));
        logic.onTick(atMillis(1_000));
        Decision huge = logic.decisions(Optional.of(DEVICE), Optional.empty()).get(0);
        assertThat(DecisionPages.answer(List.of(huge), true, query).records())
                .singleElement()
                .asString()
                .contains("\"planning\":null");
    }
}
