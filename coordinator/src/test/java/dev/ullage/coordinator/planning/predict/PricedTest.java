package dev.ullage.coordinator.planning.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import dev.ullage.common.model.MemoryBytes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class PricedTest {

    /** Calm and busy stretches of 50 steps from a plain congruential generator, which other languages have, too. */
    private static List<MemoryBytes> calmAndBusy(int steps) {
        List<MemoryBytes> series = new ArrayList<>();
        long random = 12_345;
        long level = 8;
        for (int i = 0; i < steps; i++) {
            random = (random * 1_103_515_245L + 12_345) % (1L << 31);
            if (i / 50 % 2 == 1 || random % 40 == 0) {
                level = (random >> 8) % 24 + 2;
            }
            series.add(MemoryBytes.ofGibibytes(level));
        }
        return series;
    }

    // Goal: the rule is the one that was tuned. Method: what its prototype in Python, another implementation with
    // floating-point amounts throughout, answered: step, limit and forecast in KiB.
    @Test
    void itAnswersAsThePrototypeDid() {
        double[][] expected = {
            {0, 8_388_608, 8_388_608},
            {39, 16_777_216, 16_777_216},
            {50, 19_084_083, 14_921_815},
            {60, 25_417_482, 12_798_340},
            {75, 22_240_297, 17_453_604},
            {79, 16_944_988, 11_295_302},
            {159, 14_826_865, 8_914_643},
            {239, 8_220_836, 7_340_032},
            {279, 23_299_359, 15_040_699},
            {399, 25_417_482, 12_239_577}
        };
        Priced priced = new Priced(Priced.Settings.DEFAULTS);
        List<Prediction> answers =
                calmAndBusy(400).stream().map(priced::observe).toList();
        for (double[] step : expected) {
            Prediction answer = answers.get((int) step[0]);
            assertThat(answer.limit().value() / 1024.0).as("step %s", step[0]).isCloseTo(step[1], within(2.0));
            assertThat(answer.forecast().value() / 1024.0).isCloseTo(step[2], within(2.0));
        }
    }

    @Test
    void whatNeverChangesGetsNoRoom() {
        Priced priced = new Priced(Priced.Settings.DEFAULTS);
        MemoryBytes used = MemoryBytes.ofGibibytes(10);
        Prediction last = priced.observe(used);
        for (int i = 0; i < 200; i++) {
            last = priced.observe(used);
        }
        assertThat(last).isEqualTo(new Prediction(used, used));
    }

    @Test
    void aHigherPriceOfAMissBuysFewerOfThemForMoreRoom() {
        List<Score> scores = Stream.of(.5, 2.0, 8.0)
                .map(price -> {
                    Score.Tally tally = new Score.Tally();
                    new Replay(120, 1)
                            .run(
                                    calmAndBusy(1_500),
                                    new Priced(Priced.Settings.DEFAULTS.withMissPrice(price)),
                                    List.of(tally));
                    return tally.score();
                })
                .toList();
        assertThat(scores.stream().map(Score::underPercent))
                .isSortedAccordingTo((left, right) -> Double.compare(right, left));
        assertThat(scores.stream().map(Score::roomPercent)).isSorted();
        assertThat(scores.get(0).underPercent()).isGreaterThan(scores.get(2).underPercent() + 1);
    }

    @Property
    void anyUseIsAnsweredAndTheSameUseInTheSameWay(
            @ForAll @Size(min = 1, max = 60) List<@LongRange(min = 0) Long> values) {
        Priced first = new Priced(new Priced.Settings(1.9, 3, 8));
        Priced second = new Priced(new Priced.Settings(1.9, 3, 8));
        for (long value : values) {
            Prediction answer = first.observe(MemoryBytes.of(value));
            assertThat(second.observe(MemoryBytes.of(value))).isEqualTo(answer);
        }
    }

    @Test
    void settingsOutOfRangeAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Priced.Settings(-1, 3, 8));
        assertThatIllegalArgumentException().isThrownBy(() -> new Priced.Settings(Double.NaN, 3, 8));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Priced.Settings(1, 3, 0))
                .withMessageContaining("0 changes to remember");
    }
}
