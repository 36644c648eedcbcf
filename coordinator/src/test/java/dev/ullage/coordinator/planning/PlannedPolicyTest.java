package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.rank;
import static dev.ullage.coordinator.planning.Estimated.PLANNED;
import static dev.ullage.coordinator.planning.Estimated.peaks;
import static dev.ullage.coordinator.planning.Estimated.planned;
import static dev.ullage.coordinator.planning.Estimated.watched;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.RankWatch.MicroBatches;
import dev.ullage.common.model.Share;
import dev.ullage.config.JobTerms;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PolicyName;
import dev.ullage.config.PolicySettings.Planned;
import dev.ullage.coordinator.planning.Shares.RankShare;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

/** Limits by an estimate, and what measured peaks make of them. */
class PlannedPolicyTest {
    private static final LimitSettings SETTINGS = LimitSettings.defaults();
    private static final LimitPolicy POLICY = new PolicyByJob(SETTINGS);
    private static final BudgetTerms DEVICE_TERMS = new BudgetTerms(gib(80), Share.ofPercent(20), MemoryBytes.ZERO);
    private static final JobTerms BY_PLAN = JobTerms.defaults().withPolicy(PolicyName.PLANNED);
    private static final long MOST = 1L << 46;

    private static RankRequest request(int number, Optional<PlannedNeeds> needs, RankObserved observed) {
        return new RankRequest(rank(number), Share.ALL, BY_PLAN, observed, needs, Optional.empty(), Optional.empty());
    }

    private static List<RankShare> share(RankRequest... ranks) {
        return POLICY.share(new PlanningInput(DEVICE, DEVICE_TERMS, List.of(ranks)))
                .ranks();
    }

    private static PhaseLimits limits(PlannedNeeds needs, RankObserved observed) {
        return share(request(0, Optional.of(needs), observed)).get(0).limits(SETTINGS.phases());
    }

    /** {@code percent} of so many GiB, rounded down as a limit is. */
    private static MemoryBytes of(long gibibytes, int percent) {
        return gib(gibibytes).times(Share.ofPercent(percent));
    }

    /** State, what was measured beside it, a tenth of that, and a fiftieth of the state. */
    private static MemoryBytes corrected(long state, long working) {
        return gib(state + working).plus(of(working, 10)).plus(of(state, 2));
    }

    @Test
    void beforeAnythingWasMeasuredEachPhaseHasItsEstimatesUpperEndWithTheStateOfLaterSteps() {
        PhaseLimits limits = limits(PLANNED, RankObserved.NOTHING);

        assertThat(limits.in(Phase.INIT)).isEqualTo(gib(4 + 2));
        assertThat(limits.in(Phase.FORWARD)).isEqualTo(gib(6 + 10 + 2 + 9));
        assertThat(limits.in(Phase.BACKWARD)).isEqualTo(gib(6 + 12 + 2 + 9));
        assertThat(limits.in(Phase.OPTIMIZER)).isEqualTo(gib(14 + 1 + 2));
        assertThat(limits.in(Phase.EVALUATION)).isEqualTo(limits.max()).isEqualTo(gib(29));
    }

    @Test
    void ranksOfTwoStagesHaveDifferentLimits() {
        List<RankShare> shares = share(
                request(0, Optional.of(planned(true, 10)), RankObserved.NOTHING),
                request(1, Optional.of(planned(true, 3)), RankObserved.NOTHING));

        assertThat(shares).extracting(RankShare::limit).containsExactly(gib(29), gib(22));
        assertThat(shares.get(0).reason().text())
                .isEqualTo("stage 0 of 2, estimated at 26.0 GiB to 29.0 GiB; nothing was measured yet: 29.0 GiB in"
                        + " BACKWARD, in other phases less");
    }

    @Test
    void whatDoesNotFitIsSharedFairlyAndNeverAboveTheBudget() {
        List<RankShare> shares = share(
                request(0, Optional.of(planned(true, 40)), RankObserved.NOTHING),
                request(1, Optional.of(planned(true, 3)), RankObserved.NOTHING));

        assertThat(shares).extracting(RankShare::limit).containsExactly(gib(64 - 22), gib(22));
    }

    // The first step is without the optimizer's state; the plan knows it, so one step is enough where that is wanted.
    @Test
    void theFirstStepsPeaksCountBesideTheStateOfThatStepAndWithTheStateOfLaterOnes() {
        CorrectedNeeds needs =
                CorrectedNeeds.of(PLANNED, watched(1, 0, peaks(5, 13, 15, 16)), new Planned(Share.ofPercent(10), 1));

        assertThat(needs.trust()).isEqualTo(CorrectedNeeds.Trust.REPLACE);
        assertThat(needs.corrected())
                .containsEntry(Phase.INIT, corrected(4, 1))
                .containsEntry(Phase.FORWARD, corrected(14, 7))
                .containsEntry(Phase.BACKWARD, corrected(14, 9))
                .containsEntry(Phase.OPTIMIZER, corrected(14, 2));
        assertThat(needs.basis()).isEqualTo("measured over its first step beside the planned state, + slack 10%");
    }

    @Test
    void untilEnoughStepsWereDoneMeasuredPeaksRaiseALimitAndLowerNone() {
        PhaseLimits limits = limits(PLANNED, watched(1, 0, peaks(5, 13, 25, 16)));

        assertThat(limits.in(Phase.FORWARD)).isEqualTo(gib(27));
        assertThat(limits.in(Phase.BACKWARD)).isEqualTo(corrected(14, 19));
        assertThat(limits.max()).isEqualTo(corrected(14, 19));
    }

    @Test
    void fromThenOnTheyTakeThePlaceOfTheEstimate() {
        RankShare share = share(request(0, Optional.of(PLANNED), watched(12, 0, peaks(5, 20, 22, 16))))
                .get(0);
        PhaseLimits limits = share.limits(SETTINGS.phases());

        assertThat(limits.in(Phase.INIT)).isEqualTo(corrected(4, 1));
        assertThat(limits.in(Phase.FORWARD)).isEqualTo(corrected(14, 6));
        assertThat(limits.in(Phase.BACKWARD)).isEqualTo(corrected(14, 8));
        assertThat(limits.in(Phase.OPTIMIZER)).isEqualTo(corrected(14, 2));
        assertThat(limits.in(Phase.IDLE)).isEqualTo(corrected(14, 8));
        assertThat(share.reason().text())
                .contains(
                        "measured over its last 12 steps beside the planned state, + slack 10%: 23.1 GiB in BACKWARD");
    }

    @Test
    void aStateThatThePlanKnowsIsNeverTakenAwayByAPeakBelowIt() {
        assertThat(limits(PLANNED, watched(12, 0, peaks(1, 2, 2, 2))).in(Phase.BACKWARD))
                .isEqualTo(corrected(14, 0));
    }

    // An evaluation before the training is without the optimizer's state, one after it is not.
    @Test
    void aPhaseThatNoEstimateTellsApartHasTheHighestOfAllWhateverItHeld() {
        Map<Phase, MemoryBytes> peaks = peaks(5, 20, 22, 16);
        peaks.put(Phase.EVALUATION, gib(9));
        assertThat(limits(PLANNED, watched(12, 0, peaks)).in(Phase.EVALUATION)).isEqualTo(corrected(14, 8));

        peaks.put(Phase.EVALUATION, gib(30));
        PhaseLimits raised = limits(PLANNED, watched(12, 0, peaks));
        assertThat(raised.in(Phase.EVALUATION)).isEqualTo(corrected(14, 16));
        assertThat(raised.in(Phase.BACKWARD)).isEqualTo(corrected(14, 8));
    }

    @Test
    void aRankWhoseAllocatorWasRefusedMemoryHasAtLeastAnEqualPart() {
        RankShare share = share(request(0, Optional.of(PLANNED), watched(12, 3, peaks(5, 20, 22, 16))))
                .get(0);

        assertThat(share.limit()).isEqualTo(gib(64));
        assertThat(share.limits(SETTINGS.phases()).in(Phase.OPTIMIZER)).isEqualTo(gib(64));
        assertThat(share.reason().text()).contains("its allocator was refused memory", "raised to 64.0 GiB");
    }

    @Test
    void aRankWithoutAnEstimateHasAnEqualPart() {
        List<RankShare> shares = share(
                request(0, Optional.empty(), watched(12, 0, peaks(5, 20, 22, 16))),
                request(1, Optional.of(PLANNED), RankObserved.NOTHING));

        assertThat(shares).extracting(RankShare::limit).containsExactly(gib(32), gib(29));
        assertThat(shares.get(0).reason().text()).startsWith("it was started without an estimate: 64.0 GiB over");
    }

    // A limit counts the whole process; an estimate of what the allocator reserves does not.
    @Test
    void whatTheProcessUsesBesideItsAllocatorIsAddedWhereItIsNotCounted() {
        RankObserved observed = watched(12, 0, peaks(5, 20, 22, 16), Optional.empty(), Optional.of(gib(2)));
        RankObserved early = watched(0, 0, Map.of(), Optional.empty(), Optional.of(gib(2)));

        assertThat(limits(PLANNED, early).in(Phase.BACKWARD)).isEqualTo(gib(29));
        assertThat(limits(planned(false, 10), early).in(Phase.BACKWARD)).isEqualTo(gib(31));
        assertThat(limits(PLANNED, observed).in(Phase.BACKWARD))
                .isEqualTo(corrected(14, 8).plus(gib(2)));
    }

    @Test
    void aRankThatIsNotWatchedGoesByThePeakOfItsLife() {
        RankObserved observed =
                new RankObserved(OptionalInt.of(2), OptionalLong.of(12), Optional.of(gib(21)), Optional.of(gib(22)), 0);

        assertThat(limits(PLANNED, observed).in(Phase.FORWARD)).isEqualTo(corrected(14, 8));
    }

    @Test
    void whatItHoldsItMayKeep() {
        RankObserved observed =
                new RankObserved(OptionalInt.of(2), OptionalLong.of(0), Optional.of(gib(40)), Optional.empty(), 0);

        assertThat(limits(PLANNED, observed).max()).isEqualTo(gib(40));
    }

    // The training says the larger size before its first step with it.
    @Test
    void aLargerMicroBatchIsMadeRoomForBeforeItWasMeasured() {
        MicroBatches sizes = new MicroBatches(6, MicroBatchLineTest.sizes(4, peaks(5, 20, 22, 16)));
        PhaseLimits limits =
                limits(PLANNED, watched(12, 0, peaks(5, 20, 22, 16), Optional.of(sizes), Optional.empty()));

        // 8 GiB beside the state are 2 for each of 4 samples, so 12 for 6 of them.
        assertThat(limits.in(Phase.BACKWARD)).isEqualTo(corrected(14, 12));
    }

    private static CorrectedNeeds corrected(long step, long forward, long backward, long optimizer, int slack) {
        Map<Phase, MemoryBytes> peaks = new EnumMap<>(Phase.class);
        peaks.put(Phase.FORWARD, MemoryBytes.of(forward));
        peaks.put(Phase.BACKWARD, MemoryBytes.of(backward));
        peaks.put(Phase.OPTIMIZER, MemoryBytes.of(optimizer));
        return CorrectedNeeds.of(PLANNED, watched(step, 0, peaks), new Planned(new Share(slack), 2));
    }

    @Property
    void correctedIsNeverBelowMeasured(
            @ForAll @LongRange(min = 1, max = 200) long step,
            @ForAll @LongRange(min = 1, max = MOST) long forward,
            @ForAll @LongRange(min = 1, max = MOST) long backward,
            @ForAll @LongRange(min = 1, max = MOST) long optimizer,
            @ForAll @IntRange(max = Share.ONE_IN_BASIS_POINTS) int slack) {
        CorrectedNeeds needs = corrected(step, forward, backward, optimizer, slack);

        assertThat(needs.corrected()).hasSize(3);
        needs.measured().forEach((phase, peak) -> {
            assertThat(needs.corrected().get(phase)).isGreaterThanOrEqualTo(peak);
            assertThat(needs.wanted(phase))
                    .hasValueSatisfying(limit ->
                            assertThat(limit).isGreaterThanOrEqualTo(peak).isLessThanOrEqualTo(needs.highestWanted()));
        });
    }

    @Property
    void whoIsSeenToHoldMoreIsNotGivenLess(
            @ForAll @LongRange(min = 1, max = 200) long step,
            @ForAll @LongRange(min = 1, max = MOST) long peak,
            @ForAll @LongRange(max = MOST) long more,
            @ForAll @IntRange(max = Share.ONE_IN_BASIS_POINTS) int slack) {
        CorrectedNeeds less = corrected(step, peak, peak, peak, slack);
        CorrectedNeeds greater = corrected(step, peak + more, peak + more, peak + more, slack);

        List<MemoryBytes> before = new ArrayList<>(less.corrected().values());
        List<MemoryBytes> after = new ArrayList<>(greater.corrected().values());
        for (int i = 0; i < before.size(); i++) {
            assertThat(after.get(i)).isGreaterThanOrEqualTo(before.get(i));
        }
        assertThat(greater.highestWanted()).isGreaterThanOrEqualTo(less.highestWanted());
    }
}
