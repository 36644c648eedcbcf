package dev.ullage.worker.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.Batch;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.RankWatch.Progress;
import dev.ullage.common.model.Share;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class PhaseWindowTest {
    private static final OptionalLong UNKNOWN = OptionalLong.empty();
    private static final StepSummary.Counts NO_COUNTS = new StepSummary.Counts(UNKNOWN, UNKNOWN, UNKNOWN);
    private static final StepSummary.Amounts NO_AMOUNTS =
            new StepSummary.Amounts(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    private final PhaseWindow window = new PhaseWindow(10);

    private static PhasePeak peak(Phase phase, long reserved) {
        return new PhasePeak(phase, Optional.of(MemoryBytes.of(reserved)), Optional.empty());
    }

    private static StepSummary step(long step, PhasePeak... peaks) {
        return new StepSummary(step, 1, OptionalLong.of(step / 4), Arrays.asList(peaks), NO_AMOUNTS, NO_COUNTS);
    }

    private static StepSummary counted(long step, long allocations, long refusals) {
        return new StepSummary(
                step,
                1,
                UNKNOWN,
                List.of(),
                NO_AMOUNTS,
                new StepSummary.Counts(OptionalLong.of(allocations), UNKNOWN, OptionalLong.of(refusals)));
    }

    private static StepSummary amounts(long allocated, long reserved, long requested, long split) {
        return new StepSummary(
                1,
                1,
                UNKNOWN,
                List.of(),
                new StepSummary.Amounts(
                        Optional.of(MemoryBytes.of(allocated)),
                        Optional.of(MemoryBytes.of(reserved)),
                        Optional.of(MemoryBytes.of(requested)),
                        Optional.of(MemoryBytes.of(split))),
                NO_COUNTS);
    }

    private Map<Phase, Long> peaks() {
        return window.peaks().stream()
                .collect(Collectors.toMap(
                        PhasePeak::phase, peak -> peak.reserved().orElseThrow().value()));
    }

    private static StepSummary cut(long step, int samples, long sequence) {
        Batch batch = new Batch(sequence, 64, samples, samples, OptionalInt.empty(), Optional.of(MemoryBytes.of(step)));
        return new StepSummary(
                step,
                1,
                UNKNOWN,
                List.of(peak(Phase.FORWARD, samples)),
                NO_AMOUNTS,
                NO_COUNTS,
                RankWatch.Batches.of(Optional.of(batch), Optional.empty()));
    }

    // Goal: what a rank needed for a larger batch is not taken for what it needs for the smaller one.
    @Test
    void withAnotherSizeOfTheBatchThePeaksBeginAnew() {
        window.add(cut(1, 32, 0));
        window.add(cut(2, 32, 1));
        assertThat(window.progress().steps()).isEqualTo(2);

        assertThat(window.add(cut(3, 16, 2))).as("the training goes on").isTrue();

        assertThat(peaks()).isEqualTo(Map.of(Phase.FORWARD, 16L));
        assertThat(window.progress().steps()).isEqualTo(1);
    }

    @Test
    void thePeakOfAPhaseIsTheMostOfTheLastSteps() {
        window.add(step(1, peak(Phase.FORWARD, 50), peak(Phase.OPTIMIZER, 90)));
        window.add(step(5, peak(Phase.FORWARD, 70), peak(Phase.OPTIMIZER, 60)));
        assertThat(peaks()).isEqualTo(Map.of(Phase.FORWARD, 70L, Phase.OPTIMIZER, 90L));

        window.add(step(11, peak(Phase.FORWARD, 40), peak(Phase.OPTIMIZER, 50)));
        assertThat(peaks()).as("step 1 is forgotten").isEqualTo(Map.of(Phase.FORWARD, 70L, Phase.OPTIMIZER, 60L));
        assertThat(window.progress()).isEqualTo(new Progress(OptionalLong.of(11), OptionalLong.of(2), 10));
    }

    @Test
    void aPhaseThatIsRareKeepsItsNewestPeak() {
        window.add(step(1, peak(Phase.EVALUATION, 80)));
        window.add(step(2, peak(Phase.EVALUATION, 30)));
        window.add(step(500, peak(Phase.FORWARD, 40)));

        assertThat(peaks()).isEqualTo(Map.of(Phase.EVALUATION, 30L, Phase.FORWARD, 40L));
    }

    @Test
    void aStepThatIsNotAboveTheLastBeginsAnew() {
        window.add(step(7, peak(Phase.FORWARD, 70)));

        assertThat(window.add(step(7, peak(Phase.FORWARD, 10)))).isFalse();
        assertThat(peaks()).isEqualTo(Map.of(Phase.FORWARD, 10L));
        assertThat(window.add(step(8))).isTrue();
    }

    @Test
    void countsAreThoseOfTheWindow() {
        window.add(counted(1, 1_000, 3));
        assertThat(window.allocator().allocationsPerStep())
                .as("one summary has no pace")
                .isEmpty();
        window.add(counted(6, 1_500, 3));
        assertThat(window.allocator().allocationsPerStep()).hasValue(100);
        assertThat(window.allocator().refusals()).hasValue(3);

        window.add(counted(12, 2_700, 4));
        window.add(counted(17, 2_700, 4));
        assertThat(window.allocator().allocationsPerStep()).as("since step 6").hasValue(1_200 / 11);
        assertThat(window.allocator().refusals()).as("since step 6").hasValue(1);
        assertThat(window.allocator().allocations()).hasValue(2_700);
        assertThat(window.allocator().retries()).isEmpty();
    }

    // A worker that was restarted: what came before its first summary is neither its peaks nor its refusals.
    @Test
    void aWindowThatBeginsInTheMidstOfATrainingSaysHowFewStepsItHas() {
        window.add(counted(1_200, 9_000, 7));
        assertThat(window.progress().steps()).isEqualTo(1);
        assertThat(window.allocator().refusals()).hasValue(0);
        window.add(counted(1_205, 9_500, 8));
        assertThat(window.progress().steps()).isEqualTo(6);
        assertThat(window.allocator().refusals()).hasValue(1);
    }

    @Test
    void fragmentationAndRoundingWasteAreRatiosAndUnknownOfNothing() {
        window.add(amounts(800, 1_000, 600, 150));
        assertThat(window.allocator().fragmentation()).contains(Share.ofPercent(15));
        assertThat(window.allocator().roundingWaste()).contains(Share.ofPercent(25));

        window.add(amounts(0, 0, 0, 0));
        assertThat(window.allocator().fragmentation()).isEmpty();
        assertThat(window.allocator().roundingWaste()).isEmpty();
    }

    @Test
    void anEmptyWindowKnowsNothing() {
        assertThat(window.peaks()).isEmpty();
        assertThat(window.progress()).isEqualTo(new Progress(UNKNOWN, UNKNOWN, 0));
        assertThat(window.allocator().allocations()).isEmpty();
        assertThatThrownBy(() -> new PhaseWindow(0)).hasMessage("a window has 1 step or more: 0");
    }

    // Goal: the window is what its definition says. Method: compare with all summaries, filtered.
    @Property
    void itIsTheMostOfTheStepsInIt(
            @ForAll @Size(min = 1, max = 60) List<@IntRange(min = 1, max = 1_000) Integer> peaks) {
        PhaseWindow ten = new PhaseWindow(10);
        for (int i = 0; i < peaks.size(); i++) {
            ten.add(step(i + 1, peak(Phase.FORWARD, peaks.get(i))));
        }
        int most = peaks.subList(Math.max(0, peaks.size() - 10), peaks.size()).stream()
                .mapToInt(Integer::intValue)
                .max()
                .orElseThrow();

        assertThat(ten.peaks()).containsExactly(peak(Phase.FORWARD, most));
    }
}
