package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.Share;
import dev.ullage.config.FixedLimit;
import dev.ullage.config.JobTerms;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PolicyName;
import dev.ullage.coordinator.planning.Shares.RankShare;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Observed peaks, phase by phase: on recorded steps of real trainings, and where peaks say nothing. */
class ObservedPhasesTest {
    private static final LimitPolicy POLICY = new PolicyByJob(LimitSettings.defaults());
    private static final Share SLACK = Share.ofPercent(10);
    private static final BudgetTerms DEVICE_TERMS = new BudgetTerms(gib(80), Share.ofPercent(20), MemoryBytes.ZERO);
    private static final JobTerms BY_OBSERVED =
            new JobTerms(PolicyName.OBSERVED, Priority.MEDIUM, Optional.empty(), FixedLimit.of(Share.ofPercent(80)));

    private static RankObserved watched(long step, long refusals, Map<Phase, MemoryBytes> peaks) {
        return watched(step, Math.min(step, 100), refusals, peaks);
    }

    private static RankObserved watched(long step, long steps, long refusals, Map<Phase, MemoryBytes> peaks) {
        List<PhasePeak> phases = peaks.entrySet().stream()
                .map(peak -> new PhasePeak(peak.getKey(), Optional.of(peak.getValue()), Optional.empty()))
                .toList();
        OptionalLong unknown = OptionalLong.empty();
        RankWatch watch = new RankWatch(
                new RankWatch.Progress(OptionalLong.of(step), unknown, steps),
                phases,
                new RankWatch.Allocator(
                        unknown, unknown, Optional.empty(), Optional.empty(), unknown, OptionalLong.of(refusals)),
                RankWatch.Leak.UNKNOWN,
                List.of(),
                Optional.empty());
        return new RankObserved(
                OptionalInt.empty(),
                OptionalLong.of(step),
                Optional.empty(),
                Optional.of(gib(60)),
                0,
                Optional.of(watch));
    }

    private static RankShare share(RankObserved observed, Share operators) {
        RankRequest rank = new RankRequest(rank(0), operators, BY_OBSERVED, observed);
        return POLICY.share(new PlanningInput(DEVICE, DEVICE_TERMS, List.of(rank)))
                .ranks()
                .get(0);
    }

    private static PhaseLimits limits(RankObserved observed) {
        return share(observed, Share.ALL).limits(LimitSettings.defaults().phases());
    }

    private static List<String[]> rows(String file) throws IOException {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(ObservedPhasesTest.class.getResourceAsStream("/observed/" + file)),
                StandardCharsets.UTF_8))) {
            return reader.lines()
                    .filter(line -> !line.startsWith("#"))
                    .skip(1)
                    .map(line -> line.split(","))
                    .toList();
        }
    }

    /** The peaks of each recording by its phases. */
    private static Map<String, Map<Phase, MemoryBytes>> recorded(String file, int column) throws IOException {
        Map<String, Map<Phase, MemoryBytes>> recordings = new TreeMap<>();
        for (String[] row : rows(file)) {
            BigDecimal amount = new BigDecimal(row[column]);
            BigDecimal unit = file.equals("rank-phases.csv") ? BigDecimal.valueOf(1L << 30) : BigDecimal.ONE;
            recordings
                    .computeIfAbsent(row[0], name -> new EnumMap<>(Phase.class))
                    .put(
                            Phase.valueOf(row[1]),
                            MemoryBytes.of(amount.multiply(unit).longValue()));
        }
        return recordings;
    }

    // 12.8 GiB after init, 28.3 GiB before the optimizer's step, 51.3 GiB in it; 38.6 where its state is sharded.
    @Test
    void theLimitsOfARecordedTrainingAreItsPeaksWithinTheSlack() throws IOException {
        Map<String, Map<Phase, MemoryBytes>> recordings = recorded("rank-phases.csv", 2);

        assertThat(recordings).hasSize(2);
        recordings.forEach((name, peaks) -> {
            PhaseLimits limits = limits(watched(10, 0, peaks));
            peaks.forEach((phase, peak) -> assertThat(limits.in(phase))
                    .as("%s %s", name, phase)
                    .isBetween(peak, peak.plus(peak.times(SLACK))));
            assertThat(limits.in(Phase.BACKWARD)).isLessThan(limits.in(Phase.OPTIMIZER));
            assertThat(limits.in(Phase.EVALUATION)).as("never seen").isEqualTo(limits.max());
        });
    }

    // Goal: a step within the slack of those seen stays within its limits. Method: the next step is the recorded one,
    // each phase larger or smaller by up to the slack.
    @Property(tries = 200)
    void theLimitsCoverTheNextStepOfARecordedTimeline(
            @ForAll @IntRange(min = 0, max = 3) int timeline,
            @ForAll @IntRange(min = 2, max = 3) int column,
            @ForAll @IntRange(min = -1_000, max = 1_000) int basisPoints)
            throws IOException {
        Map<Phase, MemoryBytes> peaks =
                List.copyOf(recorded("step-timelines.csv", column).values()).get(timeline);
        PhaseLimits limits = limits(watched(10, 0, peaks));

        peaks.forEach((phase, peak) -> {
            MemoryBytes change = peak.times(new Share(Math.abs(basisPoints)));
            MemoryBytes next = basisPoints < 0 ? peak.minus(change) : peak.plus(change);
            assertThat(next).as("%s", phase).isLessThanOrEqualTo(limits.in(phase));
        });
    }

    // A context of 1024: the optimizer allocates 6.6 GiB where the backward pass allocates 22.5.
    @Test
    void aPhaseThatNeedsLittleIsGivenLittle() throws IOException {
        PhaseLimits limits = limits(watched(
                10, 0, Objects.requireNonNull(recorded("step-timelines.csv", 2).get("1024"))));

        assertThat(limits.in(Phase.OPTIMIZER)).isLessThan(gib(8));
        assertThat(limits.in(Phase.BACKWARD)).isBetween(gib(24), gib(25));
    }

    @Test
    void theFirstStepSaysNothingBecauseItsOtherPhasesAreWithoutTheOptimizersState() {
        Map<Phase, MemoryBytes> peaks = Map.of(Phase.FORWARD, gib(10), Phase.OPTIMIZER, gib(20));

        assertThat(share(watched(1, 0, peaks), Share.ALL).reason().text())
                .startsWith("step 1, peaks count from step 10 on: ");
        assertThat(limits(watched(9, 0, peaks))).isEqualTo(PhaseLimits.uniform(gib(64)));
        assertThat(limits(watched(10, 0, peaks)).in(Phase.FORWARD)).isEqualTo(gib(11));
    }

    // A worker that was restarted has seen only a few steps; the rank's own peak of its whole life covers the rest.
    @Test
    void fewStepsSayLessThanTheWholeLife() {
        Map<Phase, MemoryBytes> peaks = Map.of(Phase.FORWARD, gib(10), Phase.OPTIMIZER, gib(20));

        assertThat(limits(watched(1_200, 9, 0, peaks))).isEqualTo(PhaseLimits.uniform(gib(64)));
        assertThat(share(watched(1_200, 9, 0, peaks), Share.ALL).reason().text())
                .startsWith("peak of 60.0 GiB (of its whole life) + slack 10% is 66.0 GiB");
        assertThat(limits(watched(1_200, 10, 0, peaks)).max()).isEqualTo(gib(22));
    }

    @Test
    void aRefusalCountsAsLongAsItIsAmongTheLastSteps() {
        Map<Phase, MemoryBytes> peaks = Map.of(Phase.FORWARD, gib(10));

        assertThat(share(watched(200, 2, peaks), Share.ALL).reason().text())
                .startsWith("its allocator was refused 2 times in its last 100 steps, so its peaks are its limit's");
        assertThat(share(watched(200, 0, peaks), Share.ALL).reason().text())
                .isEqualTo("peak of 10.0 GiB in FORWARD over its last 100 steps + slack 10% is 11.0 GiB, in other"
                        + " phases by their own peaks");
    }

    @Test
    void theOperatorsShareCountsInEveryPhase() {
        Map<Phase, MemoryBytes> peaks = Map.of(Phase.FORWARD, gib(10), Phase.OPTIMIZER, gib(20));
        PhaseLimits half = share(watched(10, 0, peaks), Share.ofPercent(50))
                .limits(LimitSettings.defaults().phases());

        assertThat(half.in(Phase.OPTIMIZER)).isEqualTo(gib(11));
        assertThat(half.in(Phase.FORWARD)).isEqualTo(gib(22).dividedBy(4));
    }

    @Test
    void aPhaseNeverHasLessThanTheMinimumNorMoreThanTheLimit() {
        PhaseLimits limits = limits(watched(10, 0, Map.of(Phase.FORWARD, gib(100), Phase.IDLE, MemoryBytes.of(5))));

        assertThat(limits.in(Phase.IDLE)).isEqualTo(LimitSettings.defaults().minimum());
        assertThat(limits.max()).isEqualTo(gib(64));
    }
}
