package dev.ullage.coordinator.planning.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.within;

import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class ScoreTest {
    private static final Offset<Double> EXACT = within(1e-9);

    private static List<MemoryBytes> gibibytes(long... values) {
        return java.util.Arrays.stream(values)
                .mapToObj(MemoryBytes::ofGibibytes)
                .toList();
    }

    @Test
    void aMissIsNegativeRoomAndAShortfall() {
        Score.Tally tally = new Score.Tally();
        new Replay(1, 1).run(gibibytes(4, 4, 8, 4, 4), of("last"), List.of(tally));
        Score score = tally.score();
        assertThat(score.steps()).isEqualTo(4);
        assertThat(score.underPercent()).isEqualTo(25, EXACT);
        assertThat(score.roomPercent()).isEqualTo((-50 + 100) / 4.0, EXACT);
        assertThat(score.roomOfSumsPercent()).isEqualTo(0, EXACT);
        assertThat(score.rmseGib()).isEqualTo(Math.sqrt(8), EXACT);
        assertThat(score.maeGib()).isEqualTo(2, EXACT);
        assertThat(score.accuracyPercent()).isEqualTo(100 * (1 - 1.5 / 4), EXACT);
    }

    @Test
    void theShortfallOfNinetyNinePercentOfTheStepsLiesBetweenTheSortedOnes() {
        Score.Tally tally = new Score.Tally();
        IntStream.rangeClosed(1, 101)
                .forEach(i -> tally.add(
                        MemoryBytes.ofGibibytes(i > 99 ? 10 + i : 10),
                        new Prediction(MemoryBytes.ofGibibytes(10), MemoryBytes.ZERO)));
        // 99 zeros, 100 and 101 missing: the 99th percentile is the 100th of 101 values.
        assertThat(tally.score().p99ShortfallGib()).isEqualTo(100, EXACT);
    }

    @Test
    void ofStepsThatUseNextToNothingNoRatioIsTaken() {
        Score.Tally tally = new Score.Tally();
        tally.add(MemoryBytes.ZERO, new Prediction(MemoryBytes.ZERO, MemoryBytes.ZERO));
        assertThat(tally.score().roomPercent()).isNaN();
        assertThat(tally.score().underPercent()).isZero();
        assertThatIllegalStateException().isThrownBy(() -> new Score.Tally().score());
    }

    // The warm-up ends with the first decision: steps 3 and 4 get the limit of step 2, step 5 that of step 4.
    @Test
    void aLimitIsHeldForTheHorizon() {
        Score.Tally tally = new Score.Tally();
        new Replay(2, 2).run(gibibytes(1, 2, 2, 9, 9), of("last"), List.of(tally));
        assertThat(tally.score().underPercent()).isEqualTo(100 / 3.0, EXACT);
    }

    private static DemandPredictor of(String name) {
        return PredictorCatalog.find(name, java.util.OptionalInt.empty())
                .orElseThrow()
                .get();
    }
}
