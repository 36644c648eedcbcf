package dev.ullage.coordinator.planning.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Limits that must hold for several steps. */
class HeldTest {
    private static final MemoryBytes LOW = MemoryBytes.ofGibibytes(10);
    private static final MemoryBytes HIGH = MemoryBytes.ofGibibytes(20);

    private static Held held(int steps, double price) {
        return new Held(new Held.Settings(steps, price));
    }

    private static Prediction last(DemandPredictor predictor, List<MemoryBytes> series) {
        Prediction last = new Prediction(MemoryBytes.ZERO, MemoryBytes.ZERO);
        for (MemoryBytes used : series) {
            last = predictor.observe(used);
        }
        return last;
    }

    /** Low, with one high step in so many. */
    private static List<MemoryBytes> spikes(int every, int steps) {
        List<MemoryBytes> series = new ArrayList<>();
        for (int i = 1; i <= steps; i++) {
            series.add(i % every == 0 ? HIGH : LOW);
        }
        return series;
    }

    @Test
    void theFirstValueIsAllThatIsKnown() {
        assertThat(held(5, 4).observe(LOW)).isEqualTo(new Prediction(LOW, LOW));
    }

    // Goal: how long a limit must hold decides what is room enough. Method: a use that rises by 0.2 GiB in each of 100
    // steps and falls back at once, seen in the middle of a rise: in 2 steps it is hardly higher, in 45 it is 9 GiB.
    @Test
    void aLongerHoldSeesWhatAShorterOneDoesNotHaveToFear() {
        List<MemoryBytes> series = new ArrayList<>();
        for (int i = 0; i < 755; i++) {
            series.add(MemoryBytes.ofMebibytes(10_240 + 205L * (i % 100)));
        }
        MemoryBytes now = series.get(series.size() - 1);
        MemoryBytes forTwo = last(held(2, .5), series).limit();

        assertThat(forTwo).isGreaterThan(now);
        assertThat(last(held(45, .5), series).limit())
                .isGreaterThan(now.plus(MemoryBytes.ofGibibytes(8)))
                .isGreaterThan(forTwo.plus(MemoryBytes.ofMebibytes(512)));
    }

    @Test
    void aHigherPriceIsMoreRoom() {
        List<MemoryBytes> series = new ArrayList<>();
        Random random = new Random(7);
        for (int i = 0; i < 400; i++) {
            series.add(MemoryBytes.ofMebibytes(8_000 + random.nextInt(8_000)));
        }
        MemoryBytes cheap = last(held(15, .5), series).limit();
        MemoryBytes dear = last(held(15, 30), series).limit();

        assertThat(dear).isGreaterThan(cheap);
    }

    @Test
    void aSeriesThatNeverChangedNeedsLittleRoom() {
        List<MemoryBytes> series = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            series.add(LOW);
        }
        MemoryBytes limit = last(held(60, 4), series).limit();

        assertThat(limit).isBetween(LOW, MemoryBytes.ofMebibytes(11_059));
        assertThat(last(held(60, 4), series).forecast()).isEqualTo(LOW);
    }

    // Goal: it deserves to be the rule for limits that are held. Method: a recorded-like series that jumps between
    // levels; at 15 steps it misses less than a rolling maximum of 60 steps with hardly more room.
    @Test
    void itMissesLessThanARollingMaximumWithHardlyMoreRoom() {
        List<MemoryBytes> series = new ArrayList<>();
        Random random = new Random(1);
        long level = 20_000;
        for (int i = 0; i < 3_000; i++) {
            if (random.nextInt(4) == 0) {
                level = 14_000L + random.nextInt(12_000) + (random.nextInt(30) == 0 ? 8_000 : 0);
            }
            series.add(MemoryBytes.ofMebibytes(level));
        }
        Score.Tally held = new Score.Tally();
        Score.Tally rolling = new Score.Tally();
        Replay replay = new Replay(120, 15);
        replay.run(series, held(15, 4), List.of(held));
        replay.run(
                series,
                PredictorCatalog.find("rolling-max-60", OptionalInt.empty())
                        .orElseThrow()
                        .get(),
                List.of(rolling));

        assertThat(held.score().roomPercent()).isLessThan(1.1 * rolling.score().roomPercent());
        assertThat(held.score().underPercent()).isLessThan(rolling.score().underPercent());
    }

    @Property(tries = 60)
    void anySeriesHasALimitAndTheSameOneAgain(
            @ForAll @Size(min = 1, max = 1_300) List<@LongRange(min = 0, max = 1L << 62) Long> values) {
        List<MemoryBytes> series = values.stream().map(MemoryBytes::of).toList();

        Prediction first = last(held(15, 4), series);
        assertThat(last(held(15, 4), series)).isEqualTo(first);
        MemoryBytes most = series.stream().max(MemoryBytes::compareTo).orElseThrow();
        assertThat(first.forecast()).as("but for rounding").isLessThanOrEqualTo(Room.over(most, new Share(1)));
    }

    @Test
    void namesCarryStepsAndPrice() {
        List<MemoryBytes> series = spikes(7, 300);
        assertThat(last(
                        PredictorCatalog.find("held-15", OptionalInt.empty())
                                .orElseThrow()
                                .get(),
                        series))
                .isEqualTo(last(held(15, Held.Settings.DEFAULT_PRICE), series));
        assertThat(last(
                        PredictorCatalog.find("held-60-12.5", OptionalInt.empty())
                                .orElseThrow()
                                .get(),
                        series))
                .isEqualTo(last(held(60, 12.5), series));
        for (String name : List.of("held-0", "held-1001", "held-5-1001", "held-", "held-x")) {
            assertThatIllegalArgumentException()
                    .as(name)
                    .isThrownBy(() -> PredictorCatalog.find(name, OptionalInt.empty()));
        }
    }
}
