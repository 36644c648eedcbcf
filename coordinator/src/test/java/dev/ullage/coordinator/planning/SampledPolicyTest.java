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
import static dev.ullage.coordinator.Fixtures.rank;
import static dev.ullage.coordinator.Fixtures.report;
import static dev.ullage.coordinator.Fixtures.settled;
import static dev.ullage.coordinator.Fixtures.terms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.RankSample.Activity;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnReport;
import dev.ullage.config.BurstNeed;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.JobTerms;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PolicyName;
import dev.ullage.config.PolicySettings;
import dev.ullage.config.TurnMode;
import dev.ullage.config.TurnNeedSettings;
import dev.ullage.coordinator.planning.PlanGuard.Rule;
import dev.ullage.coordinator.planning.PlanOutcome.Planned;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.junit.jupiter.api.Test;

/** What the workers' samples say reaches the policy of each job; without a sample nothing is moved. */
class SampledPolicyTest {
    private static final ClusterView DEVICES = ClusterView.EMPTY.with(
            announced(NODE, Optional.empty(), TestInbox.<ToWorker>create().getRef(), DEVICE), T0);

    private static LimitPlanner planner(PolicyName policy) {
        LimitSettings defaults = LimitSettings.defaults();
        PolicySettings shipped = defaults.policies();
        JobTerms any = shipped.anyJob();
        JobTerms job = new JobTerms(policy, any.priority(), any.modelSize(), any.limit());
        PolicySettings policies = new PolicySettings(
                any, new TreeMap<>(Map.of(JOB, job)), shipped.priorityPool(), shipped.hybrid(), shipped.observed());
        return LimitPlanner.of(
                CoordinatorSettings.defaults(),
                new LimitSettings(
                        defaults.reserve(), defaults.minimum(), defaults.deadBand(), defaults.phases(), policies));
    }

    private static RankSample sample(int rank, long step) {
        return new RankSample(
                rank(rank),
                new RankFacts(OptionalInt.of(4), OptionalInt.empty(), "torchrun", 0, Optional.empty(), List.of()),
                new Activity(Phase.FORWARD, OptionalLong.of(step)),
                RankUse.UNKNOWN,
                EnforcedBy.ADVISORY,
                true,
                0,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    private static PlanOutcome outcome(PolicyName policy, LedgerReport ledger, RankSample... samples) {
        ClusterView view = DEVICES.with(report(0, ledger), T0);
        if (samples.length > 0) {
            view = view.with(
                    new DeviceSampled(
                            NODE, DEVICE, 0, Optional.empty(), Optional.empty(), Arrays.asList(samples), List.of()),
                    T0);
        }
        return planner(policy)
                .plan(new Situation(view, Map.of(), OperatorWishes.NONE, TOKEN, T0))
                .get(0);
    }

    private static List<MemoryBytes> limitsOf(PlanOutcome outcome) {
        assertThat(outcome).isInstanceOf(Planned.class);
        return ((Planned) outcome)
                .plan().limits().stream().map(limit -> limit.limits().max()).toList();
    }

    @Test
    void theWorldSizeOfARankReachesItsPolicy() {
        assertThat(limitsOf(outcome(PolicyName.WORLD_SHARE, ledger(joined(0)), sample(0, 1))))
                .containsExactly(gib(16));
        assertThat(limitsOf(outcome(PolicyName.RANK_SHARE, ledger(joined(0)), sample(0, 1))))
                .containsExactly(gib(64));
    }

    @Test
    void aRankIsHeldToTheRatioWhenItsStepHasCome() {
        assertThat(limitsOf(outcome(PolicyName.HYBRID, ledger(settled(0, gib(64))), sample(0, 1_000))))
                .containsExactly(gib(64).times(Share.ofPercent(80)));
    }

    @Test
    void aNewCoordinatorMovesNoLimitBeforeItHasSeenTheRanks() {
        PlanOutcome outcome = outcome(PolicyName.HYBRID, ledger(settled(0, gib(51))));

        assertThat(outcome).isInstanceOf(Vetoed.class);
        assertThat(((Vetoed) outcome).veto())
                .isEqualTo(new PlanGuard.Veto(
                        Rule.SAMPLE,
                        new PlanReason(
                                "no plan for GPU-a0: it follows from what job/0 does, and no sample says so yet")));
    }

    @Test
    void aRankThatJoinsAndABudgetThatShrankDoNotWaitForASample() {
        assertThat(limitsOf(outcome(PolicyName.HYBRID, ledger(settled(0, gib(51)), joined(1)))))
                .containsExactly(gib(32), gib(32));
        assertThat(limitsOf(outcome(PolicyName.HYBRID, ledger(terms(gib(80), gib(32)), settled(0, gib(51))))))
                .containsExactly(gib(32));
    }

    // Two jobs take turns by what was observed of them, and the coordinator is new.
    @Test
    void turnsAreNotTakenFromARankThatCannotBeSeen() {
        RankInstance other = new RankInstance(new RankId(new JobId("other"), 0), 7, 1);
        GrantReport grant = settled(0, gib(10));
        GrantReport second = new GrantReport(other, Share.ALL, grant.target(), 1, 1, gib(10));
        MemoryBytes pool = gib(40);
        TurnPlan plan = new TurnPlan(
                pool,
                List.of(
                        new TurnPlan.RankTurn(rank(0), BurstNeed.DEFAULT_PHASES, pool),
                        new TurnPlan.RankTurn(other, BurstNeed.DEFAULT_PHASES, pool)));
        LedgerReport plain = ledger(grant, second);
        BudgetTerms terms = plain.wanted().withPool(Optional.of(pool));
        LedgerReport turning = new LedgerReport(
                terms,
                terms,
                false,
                plain.grants(),
                plain.counts(),
                Optional.of(new TurnReport(
                        Optional.of(plan), MemoryBytes.ZERO, List.of(), List.of(), TurnReport.Counts.NONE)));
        LimitSettings shipped = LimitSettings.defaults();
        LimitSettings byTurns = new LimitSettings(
                shipped.reserve(),
                shipped.minimum(),
                shipped.deadBand(),
                shipped.phases(),
                shipped.policies(),
                TurnMode.AUTO,
                new TurnNeedSettings(TurnNeedSettings.Source.OBSERVED, Share.ofPercent(10)));
        LimitPlanner planner = LimitPlanner.of(
                Duration.ofSeconds(5),
                byTurns,
                new RankDemands(byTurns.policies().observed().predictor()).forTurns(byTurns));
        Situation situation =
                new Situation(DEVICES.with(report(0, turning), T0), Map.of(), OperatorWishes.NONE, TOKEN, T0);

        assertThat(planner.plan(situation).get(0))
                .isInstanceOfSatisfying(
                        Vetoed.class, vetoed -> assertThat(vetoed.veto().rule()).isEqualTo(Rule.SAMPLE));
    }

    @Test
    void aPolicyThatLooksAtNoRankDoesNotWaitForASample() {
        assertThat(limitsOf(outcome(PolicyName.GROWTH, ledger(settled(0, gib(51))))))
                .containsExactly(gib(64));
    }
}
