package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.JOB;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.TOKEN;
import static dev.ullage.coordinator.Fixtures.announced;
import static dev.ullage.coordinator.Fixtures.atMillis;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.joined;
import static dev.ullage.coordinator.Fixtures.ledger;
import static dev.ullage.coordinator.Fixtures.limits;
import static dev.ullage.coordinator.Fixtures.mib;
import static dev.ullage.coordinator.Fixtures.ordered;
import static dev.ullage.coordinator.Fixtures.rank;
import static dev.ullage.coordinator.Fixtures.rankId;
import static dev.ullage.coordinator.Fixtures.report;
import static dev.ullage.coordinator.Fixtures.settled;
import static dev.ullage.coordinator.Fixtures.terms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.NotKnown;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PhaseShares;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.OperatorDesk.Ruling;
import dev.ullage.coordinator.planning.PlanGuard.Rule;
import dev.ullage.coordinator.planning.PlanOutcome.Planned;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.Test;

class LimitPlannerTest {
    private static final ActorRef<ToWorker> WORKER =
            TestInbox.<ToWorker>create().getRef();
    private static final ClusterView EMPTY_DEVICE =
            ClusterView.EMPTY.with(announced(NODE, Optional.empty(), WORKER, DEVICE), T0);

    private final LimitPlanner planner = LimitPlanner.of(CoordinatorSettings.defaults(), LimitSettings.defaults());
    private final OperatorDesk desk = new OperatorDesk(planner);

    private static Situation situation(LedgerReport ledger) {
        return new Situation(EMPTY_DEVICE.with(report(0, ledger), T0), Map.of(), OperatorWishes.NONE, TOKEN, T0);
    }

    private static Situation withPlan(Situation before, DevicePlan plan) {
        return new Situation(before.view(), Map.of(DEVICE, plan), before.wishes(), TOKEN, T0);
    }

    private static Situation at(Situation before, Instant now) {
        return new Situation(before.view(), before.onTheirWay(), before.wishes(), TOKEN, now);
    }

    private PlanOutcome outcome(Situation situation) {
        List<PlanOutcome> outcomes = planner.plan(situation);
        assertThat(outcomes).hasSize(1);
        return outcomes.get(0);
    }

    private DevicePlan planned(Situation situation) {
        PlanOutcome outcome = outcome(situation);
        assertThat(outcome).isInstanceOf(Planned.class);
        return ((Planned) outcome).plan();
    }

    private PlanGuard.Veto vetoed(Situation situation) {
        PlanOutcome outcome = outcome(situation);
        assertThat(outcome).isInstanceOf(Vetoed.class);
        return ((Vetoed) outcome).veto();
    }

    private static DevicePlan plan(MemoryBytes... limits) {
        List<PlannedLimit> planned = Arrays.stream(limits)
                .map(limit -> new PlannedLimit(
                        rank(Arrays.asList(limits).indexOf(limit)), limits(limit), Share.ALL, new PlanReason("test")))
                .toList();
        return new DevicePlan(DEVICE, Share.ofPercent(20), planned, new PlanReason("test"));
    }

    private static List<String> amounts(DevicePlan plan) {
        return plan.limits().stream()
                .map(limit -> limit.instance().rank() + " " + limit.limits())
                .toList();
    }

    @Test
    void aRankThatJoinedIsPlanned() {
        DevicePlan plan = planned(situation(ledger(joined(0))));

        assertThat(amounts(plan)).containsExactly("job/0 64.0 GiB");
        assertThat(plan.reserve()).isEqualTo(Share.ofPercent(20));
        assertThat(plan.reason().text())
                .isEqualTo("joined job/0; 1 rank, budget 64.0 GiB (allocatable 80.0 GiB, reserve 20%, foreign 0 B)");
    }

    @Test
    void aSecondRankHalvesTheFirst() {
        assertThat(amounts(planned(situation(ledger(settled(0, gib(64)), joined(1))))))
                .containsExactly("job/0 32.0 GiB", "job/1 32.0 GiB");
    }

    @Test
    void aRankThatLeftLeavesItsPartToTheOthers() {
        DevicePlan plan = planned(situation(ledger(settled(1, gib(32)))));

        assertThat(amounts(plan)).containsExactly("job/1 64.0 GiB");
        assertThat(plan.reason().text()).startsWith("the budget changed; 1 rank");
    }

    @Test
    void eachPhaseGetsItsShareOfTheLimit() {
        PhaseShares half = new PhaseShares(
                Share.ALL, Share.ALL, Share.ALL, Share.ALL, Share.ofPercent(50), Share.ALL, Share.ofPercent(25));
        LimitSettings settings = new LimitSettings(Share.ofPercent(20), MemoryBytes.ZERO, Share.NONE, half);
        LimitPlanner phased = LimitPlanner.of(CoordinatorSettings.defaults(), settings);

        DevicePlan plan = ((Planned) phased.plan(situation(ledger(joined(0)))).get(0)).plan();

        assertThat(plan.limits().get(0).limits().in(Phase.FORWARD)).isEqualTo(gib(64));
        assertThat(plan.limits().get(0).limits().in(Phase.EVALUATION)).isEqualTo(gib(32));
        assertThat(plan.limits().get(0).limits().in(Phase.IDLE)).isEqualTo(gib(16));
    }

    @Test
    void aDeviceThatObeysAnotherCoordinatorIsNotPlanned() {
        Situation situation = situation(ledger(joined(0)));
        CoordinatorToken other = new CoordinatorToken(2, "me");

        assertThat(planner.plan(new Situation(situation.view(), Map.of(), OperatorWishes.NONE, other, T0)))
                .isEmpty();
        assertThat(planner.plan(new Situation(EMPTY_DEVICE, Map.of(), OperatorWishes.NONE, TOKEN, T0)))
                .isEmpty();
    }

    @Test
    void noPlanRestsOnAStaleReport() {
        Situation situation = situation(ledger(joined(0)));

        assertThat(outcome(at(situation, atMillis(5_000)))).isInstanceOf(Planned.class);
        assertThat(vetoed(at(situation, atMillis(5_001))))
                .isEqualTo(new PlanGuard.Veto(
                        Rule.FRESHNESS,
                        new PlanReason("no plan for GPU-a0: its ledger's report is 5001 ms old, more than 5000 ms")));
    }

    @Test
    void aDeviceThatCannotBeMeasuredShrinksButDoesNotGrow() {
        for (SampleState state : List.of(SampleState.STALE, SampleState.LOST)) {
            Situation joining = measured(situation(ledger(settled(0, gib(64)), joined(1))), state);
            Situation shrinking = measured(situation(ledger(terms(gib(40), gib(0)), settled(0, gib(64)))), state);

            assertThat(vetoed(joining))
                    .isEqualTo(new PlanGuard.Veto(
                            Rule.MEASURED,
                            new PlanReason(
                                    "no plan for GPU-a0: its readings are %s and rank job/1 would grow to 32.0 GiB"
                                            .formatted(state.label()))));
            assertThat(amounts(planned(shrinking))).containsExactly("job/0 32.0 GiB");
        }
        assertThat(outcome(measured(situation(ledger(joined(0))), SampleState.FRESH)))
                .isInstanceOf(Planned.class);
    }

    private static Situation measured(Situation before, SampleState state) {
        DeviceWatched watched = new DeviceWatched(
                before.view().devices().iterator().next().node(), DEVICE, new SampleQuality(state, 1));
        return new Situation(before.view().with(watched, T0), before.onTheirWay(), before.wishes(), TOKEN, T0);
    }

    @Test
    void aLimitBelowTheMinimumIsAVetoThatNamesTheNumbers() {
        PlanGuard.Veto veto = vetoed(situation(ledger(terms(mib(100), mib(20)), joined(0))));

        assertThat(veto.rule()).isEqualTo(Rule.MINIMUM);
        assertThat(veto.reason().text())
                .isEqualTo("no plan for GPU-a0: rank job/0 would get 60.0 MiB in INIT, less than the minimum 64.0 MiB"
                        + " (100.0 MiB less reserve 20% over 1 rank is 80.0 MiB, foreign memory of 20.0 MiB leaves"
                        + " 60.0 MiB)");
    }

    @Test
    void onADeviceOverItsBudgetEveryRankShrinksToTheMinimumWhereItsPartIsLess() {
        LedgerReport over = ledger(terms(gib(80), gib(79)), settled(0, gib(32)), settled(1, gib(32)));
        LedgerReport reported = new LedgerReport(over.wanted(), over.inForce(), true, over.grants(), over.counts());

        assertThat(amounts(planned(situation(reported)))).containsExactly("job/0 64.0 MiB", "job/1 64.0 MiB");
    }

    // As when its card became MIG: the worker promises nothing more there, and its ranks are left alone until they end.
    @Test
    void whereNothingCanBePromisedNoLimitChanges() {
        LedgerReport none = ledger(terms(MemoryBytes.ZERO, MemoryBytes.ZERO), settled(0, gib(32)));
        LedgerReport reported = new LedgerReport(none.wanted(), none.inForce(), true, none.grants(), none.counts());

        assertThat(vetoed(situation(reported)).rule()).isEqualTo(Rule.MEASURED);
        assertThat(vetoed(situation(ledger(none.wanted(), joined(0)))).reason().text())
                .isEqualTo("no plan for GPU-a0: nothing can be promised on it: it was never read, or its memory is"
                        + " that of MIG instances now");
    }

    @Test
    void aDeviceThatIsAsItShouldBeIsLeftAlone() {
        assertThat(vetoed(situation(ledger(settled(0, gib(64))))).rule()).isEqualTo(Rule.STABILITY);
        assertThat(vetoed(situation(ledger())).rule()).isEqualTo(Rule.STABILITY);
    }

    @Test
    void growthWithinTheDeadBandWaits() {
        MemoryBytes little = gib(64).minus(gib(64).times(new Share(49)));
        MemoryBytes more = gib(64).minus(gib(64).times(new Share(51)));

        assertThat(vetoed(situation(ledger(settled(0, little)))).rule()).isEqualTo(Rule.STABILITY);
        assertThat(amounts(planned(situation(ledger(settled(0, more)))))).containsExactly("job/0 64.0 GiB");
    }

    @Test
    void aShrinkWithinTheDeadBandIsPlannedBecauseTheTargetsWouldNotFit() {
        DevicePlan plan = planned(situation(ledger(terms(gib(80), mib(1)), settled(0, gib(64)))));

        assertThat(plan.limits().get(0).limits().max()).isEqualTo(gib(64).minus(mib(1)));
    }

    @Test
    void aPlanOnItsWayIsNotPlannedAgain() {
        Situation situation = situation(ledger(ordered(0, gib(32), gib(64)), joined(1)));

        assertThat(vetoed(withPlan(situation, planned(situation))).rule()).isEqualTo(Rule.STABILITY);
    }

    @Test
    void aPlanThatChangesNothingIsHeldBackEvenWhenItWouldNotFit() {
        LimitPolicy greedy = input -> new Shares(input.ranks().stream()
                .map(rank -> new Shares.RankShare(rank, gib(80), new PlanReason("greedy")))
                .toList());
        LimitPlanner planning =
                new LimitPlanner(greedy, LimitSettings.defaults(), List.of(new StabilityGuard(new Share(50))));

        assertThat(planning.plan(situation(ledger(settled(0, gib(80))))).get(0)).isInstanceOf(Vetoed.class);
    }

    @Test
    void aPlanOnItsWayIsReplacedWhenItsRanksChange() {
        Situation situation = situation(ledger(ordered(0, gib(32), gib(64)), joined(1)));

        DevicePlan plan = planned(withPlan(situation, plan(gib(64))));

        assertThat(plan.reason().text()).startsWith("joined job/1; 2 ranks");
    }

    @Test
    void ranksThatAnEarlierCoordinatorLeftUnsettledGetAPlanThatWatchesThem() {
        Situation situation = situation(ledger(ordered(0, gib(64), gib(70))));

        DevicePlan plan = planned(situation);

        assertThat(plan.reason().text()).startsWith("ranks not settled yet; 1 rank");
        assertThat(vetoed(withPlan(situation, plan)).rule()).isEqualTo(Rule.STABILITY);
    }

    @Test
    void aWishedReserveOverridesTheLedgers() {
        Situation situation = situation(ledger(settled(0, gib(64))));
        Ruling ruling = desk.setReserve(Optional.of(DEVICE), Share.ofPercent(50), situation);

        DevicePlan plan = planned(situation.withWishes(ruling.wishes()));

        assertThat(ruling.isAccepted()).isTrue();
        assertThat(ruling.message()).isEqualTo("reserve of GPU-a0: 20% -> 50%");
        assertThat(plan.reserve()).isEqualTo(Share.ofPercent(50));
        assertThat(amounts(plan)).containsExactly("job/0 40.0 GiB");
        assertThat(plan.reason().text()).startsWith("reserve 20% -> 50%; 1 rank");
    }

    @Test
    void aReserveCanBeWishedForADeviceWithoutRanks() {
        Situation situation = situation(ledger());
        Ruling ruling = desk.setReserve(Optional.empty(), Share.ofPercent(50), situation);

        assertThat(planned(situation.withWishes(ruling.wishes())).reserve()).isEqualTo(Share.ofPercent(50));
    }

    @Test
    void aShareOfAJobCountsForRanksThatJoinLater() {
        Situation situation = situation(ledger(settled(0, gib(64))));
        Ruling ruling = desk.setShare(JOB, OptionalInt.empty(), Share.ofPercent(50), situation);
        Situation later = situation(ledger(settled(0, gib(64)), joined(1))).withWishes(ruling.wishes());

        DevicePlan plan = planned(later);

        assertThat(amounts(plan)).containsExactly("job/0 16.0 GiB", "job/1 16.0 GiB");
        assertThat(plan.limits()).extracting(PlannedLimit::share).containsOnly(Share.ofPercent(50));
        assertThat(plan.reason().text()).startsWith("share of job/0 100% -> 50%, joined job/1; 2 ranks");
    }

    @Test
    void aShareOfOneRankLeavesTheOthersAlone() {
        Situation situation = situation(ledger(settled(0, gib(32)), settled(1, gib(32))));
        Ruling ruling = desk.setShare(JOB, OptionalInt.of(1), Share.ofPercent(50), situation);

        assertThat(ruling.message()).isEqualTo("share of job/1 -> 50%");
        assertThat(amounts(planned(situation.withWishes(ruling.wishes()))))
                .containsExactly("job/0 32.0 GiB", "job/1 16.0 GiB");
    }

    @Test
    void theShareInTheLedgerCountsWhenNobodyWishedForAnother() {
        Situation situation = situation(ledger(settled(0, gib(16), Share.ofPercent(25))));

        assertThat(vetoed(situation).rule()).isEqualTo(Rule.STABILITY);
    }

    @Test
    void whatIsNotKnownIsRefusedWithTheNamesThatAre() {
        Situation situation = situation(ledger(settled(0, gib(32)), settled(1, gib(32))));
        DeviceId elsewhere = new DeviceId("GPU-x");
        JobId nothing = new JobId("nothing");

        List<Ruling> rulings = List.of(
                desk.setReserve(Optional.of(elsewhere), Share.NONE, situation),
                desk.setShare(nothing, OptionalInt.empty(), Share.ALL, situation),
                desk.setShare(JOB, OptionalInt.of(2), Share.ALL, situation),
                desk.setPolicy(JOB, Optional.of("best"), situation),
                desk.setReserve(
                        Optional.empty(),
                        Share.NONE,
                        new Situation(ClusterView.EMPTY, Map.of(), OperatorWishes.NONE, TOKEN, T0)));

        assertThat(rulings)
                .extracting(ruling -> ruling.notKnown().map(NotKnown::kind).orElse("-"))
                .containsExactly("device", "job", "rank", "-", "-");
        assertThat(rulings)
                .filteredOn(ruling -> !ruling.message().contains("policy"))
                .extracting(Ruling::message)
                .containsExactly(
                        "refused no device GPU-x; known: GPU-a0",
                        "refused no job nothing; known: job",
                        "refused no rank 2 of job job; known: job/0, job/1",
                        "refused to change a reserve: no device is known");
    }

    @Test
    void aWishThatWouldStarveARankIsRefusedAndChangesNothing() {
        Situation situation = situation(ledger(settled(0, gib(64))));

        Ruling ruling = desk.setShare(JOB, OptionalInt.of(0), Share.NONE, situation);

        assertThat(ruling.isAccepted()).isFalse();
        assertThat(ruling.wishes()).isSameAs(situation.wishes());
        assertThat(ruling.message())
                .startsWith("refused share of job/0 -> 0%: no plan for GPU-a0: rank job/0 would get 0 B in INIT,"
                        + " less than the minimum 64.0 MiB");
    }

    @Test
    void aDeviceThatStarvesItsRanksAnywayIsNoReasonToRefuse() {
        Situation situation = situation(ledger(terms(mib(70), MemoryBytes.ZERO), joined(0)));

        assertThat(desk.setReserve(Optional.of(DEVICE), Share.ofPercent(15), situation)
                        .isAccepted())
                .isTrue();
    }

    @Test
    void sharesAreLearnedFromOrderedGrantsUnlessSomethingNewerIsKnown() {
        Share quarter = Share.ofPercent(25);
        OperatorWishes learned = OperatorWishes.NONE.learning(List.of(settled(0, gib(16), quarter), joined(1)), T0);
        OperatorWishes jobWide = learned.withShare(JOB, Share.ofPercent(50), T0);
        OperatorWishes oneRank = jobWide.withShare(rankId(1), Share.ofPercent(75), T0);

        assertThat(learned.share(rankId(0))).contains(quarter);
        assertThat(learned.share(rankId(1))).isEmpty();
        assertThat(jobWide.share(rankId(0))).contains(Share.ofPercent(50));
        assertThat(jobWide.learning(List.of(settled(0, gib(16), quarter)), T0).share(rankId(0)))
                .contains(Share.ofPercent(50));
        assertThat(oneRank.share(rankId(1))).contains(Share.ofPercent(75));
        assertThat(oneRank.withShare(JOB, Share.ALL, T0).share(rankId(1))).contains(Share.ALL);
    }

    @Test
    void theSharesOfAJobAreForgottenLongAfterItsLastRank() {
        OperatorWishes wishes = OperatorWishes.NONE.withShare(JOB, Share.ofPercent(50), T0);
        Instant lastSeen = T0.plusSeconds(100);
        OperatorWishes seen = wishes.remembering(Set.of(JOB), lastSeen);
        Instant end = lastSeen.plus(OperatorWishes.REMEMBER_JOB);

        assertThat(seen.remembering(Set.of(), end).share(rankId(0))).isPresent();
        assertThat(seen.remembering(Set.of(), end.plusMillis(1)).share(rankId(0)))
                .isEmpty();
    }
}
