package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.JOB;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.TOKEN;
import static dev.ullage.coordinator.Fixtures.announced;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.joined;
import static dev.ullage.coordinator.Fixtures.ledger;
import static dev.ullage.coordinator.Fixtures.rankId;
import static dev.ullage.coordinator.Fixtures.report;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import dev.ullage.coordinator.planning.PlanOutcome.Planned;
import dev.ullage.coordinator.view.ClusterView;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.junit.jupiter.api.Test;

/** The policy that the ranks of a job ask for, said with each hello, comes before that of the settings. */
class AskedPolicyTest {

    /** Half of the budget of 64 GiB, by either policy. */
    private static final MemoryBytes HALF = gib(32);

    private static GrantReport asking(int rank, Optional<String> policy) {
        GrantReport plain = joined(rank);
        return new GrantReport(plain.instance(), plain.share(), plain.target(), 0, 0, plain.ceiling(), policy);
    }

    private static Situation situation(OperatorWishes wishes, GrantReport... grants) {
        ClusterView view = ClusterView.EMPTY
                .with(
                        announced(
                                NODE,
                                Optional.empty(),
                                TestInbox.<ToWorker>create().getRef(),
                                DEVICE),
                        T0)
                .with(report(0, ledger(grants)), T0);
        return new Situation(view, Map.of(), wishes, TOKEN, T0);
    }

    private static List<PlanOutcome> plan(Situation situation) {
        return LimitPlanner.of(CoordinatorSettings.defaults(), LimitSettings.defaults())
                .plan(situation);
    }

    private static List<String> policies(Situation situation) {
        List<PlanOutcome> outcomes = plan(situation);
        return Explanations.of(outcomes, LimitSettings.defaults().policies(), situation).values().stream()
                .flatMap(explanation -> explanation.ranks().stream())
                .map(reason -> reason.policy())
                .toList();
    }

    @Test
    void aRankHasTheLimitOfThePolicyItAsksForFromItsFirstOrderOn() {
        Situation situation = situation(OperatorWishes.NONE, asking(0, Optional.of("growth")), joined(1));

        assertThat(policies(situation)).containsExactly("growth", "rank-share");
        assertThat(plan(situation).get(0)).isInstanceOf(Planned.class);
        assertThat(((Planned) plan(situation).get(0))
                        .plan().limits().stream().map(limit -> limit.limits().max()))
                .containsExactly(HALF, HALF);
    }

    @Test
    void aNameThatIsNotKnownLeavesTheSettings() {
        assertThat(policies(situation(OperatorWishes.NONE, asking(0, Optional.of("of-a-newer-version")))))
                .containsExactly("rank-share");
    }

    // A worker that was just restarted reports its grants before their ranks have said hello again.
    @Test
    void whatARankAskedForIsRememberedUntilItSaysItAgain() {
        OperatorWishes learned = OperatorWishes.NONE.learning(List.of(asking(0, Optional.of("growth")), joined(1)), T0);

        assertThat(policies(situation(learned, joined(0), joined(1)))).containsExactly("growth", "rank-share");
        assertThat(learned.share(rankId(0))).isEmpty();
    }

    // A new coordinator has nothing but what the workers report, and a worker says an estimate as its rank last did.
    @Test
    void anEstimateComesWithTheGrantAndIsRememberedOverARestartOfItsWorker() {
        GrantReport plain = joined(0);
        GrantReport planned = new GrantReport(
                plain.instance(),
                plain.share(),
                plain.target(),
                0,
                0,
                plain.ceiling(),
                Optional.of("planned"),
                Optional.of(Estimated.PLANNED));
        Situation fromTheGrant = situation(OperatorWishes.NONE, planned);
        Situation afterTheRestart = situation(OperatorWishes.NONE.learning(List.of(planned), T0), joined(0));

        for (Situation situation : List.of(fromTheGrant, afterTheRestart)) {
            assertThat(((Planned) plan(situation).get(0))
                            .plan().limits().stream()
                                    .map(limit -> limit.limits().max()))
                    .containsExactly(gib(29));
            assertThat(Explanations.of(plan(situation), LimitSettings.defaults().policies(), situation)
                            .values())
                    .flatExtracting(explanation -> explanation.ranks())
                    .extracting(
                            reason -> reason.needs().map(needs -> needs.phases().size()))
                    .containsExactly(Optional.of(4));
        }
    }

    @Test
    void theNextWordOfARankCounts() {
        OperatorWishes learned = OperatorWishes.NONE
                .learning(List.of(asking(0, Optional.of("growth"))), T0)
                .learning(List.of(asking(0, Optional.of("fixed"))), T0);

        assertThat(learned.policy(rankId(0))).hasValue("fixed");
    }

    @Test
    void aJobOfTheSameNameThatStartsLaterAsksForItself() {
        OperatorWishes learned = OperatorWishes.NONE.learning(List.of(asking(0, Optional.of("growth"))), T0);

        assertThat(learned.remembering(Set.of(JOB), T0).policy(rankId(0))).hasValue("growth");
        assertThat(learned.remembering(Set.of(), T0).policy(rankId(0))).isEmpty();
    }
}
