package dev.ullage.worker.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankWatch.Leak;
import dev.ullage.common.model.RankWatch.LeakState;
import dev.ullage.worker.watch.LeakVerdict.Point;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class LeakVerdictTest {
    private static final long MIB = MemoryBytes.MEBIBYTE;
    private static final long BASE = 10_240 * MIB;

    private static List<Point> points(int count, LongUnaryOperator bytes) {
        return LongStream.range(0, count)
                .mapToObj(i -> new Point(100 + i, bytes.applyAsLong(i)))
                .toList();
    }

    private static LeakState state(int count, LongUnaryOperator bytes) {
        return LeakVerdict.of(points(count, bytes)).state();
    }

    /** A few MiB up or down, as buckets and batches of different lengths make it. */
    private static long noise(Random random, long amplitude) {
        return random.nextLong(2 * amplitude + 1) - amplitude;
    }

    @Test
    void tooFewPointsAreNoBasis() {
        assertThat(state(LeakVerdict.MIN_POINTS - 1, i -> BASE + i * MIB)).isEqualTo(LeakState.UNKNOWN);
        assertThat(state(LeakVerdict.MIN_POINTS, i -> BASE + i * MIB)).isEqualTo(LeakState.SUSPECTED);
    }

    @Test
    void aSteadyLeakIsMeasured() {
        Leak leak = LeakVerdict.of(points(100, i -> BASE + i * MIB));

        assertThat(leak.bytesPerStep()).hasValue(MIB);
        assertThat(leak.confidence().orElseThrow().basisPoints()).isGreaterThan(9_990);
        assertThat(leak.points()).isEqualTo(100);
    }

    @Property(tries = 300)
    void oneMebibytePerStepIsFoundAmongNoiseWithinEightyPoints(@ForAll Random random) {
        Leak leak = LeakVerdict.of(points(80, i -> BASE + i * MIB + noise(random, 5 * MIB)));

        assertThat(leak.state()).isEqualTo(LeakState.SUSPECTED);
        assertThat((double) leak.bytesPerStep().orElseThrow()).isCloseTo(MIB, within(0.2 * MIB));
    }

    @Property(tries = 300)
    void noiseAloneIsNone(@ForAll Random random, @ForAll @LongRange(min = 1, max = 2_000) long mebibytes) {
        assertThat(state(120, i -> BASE + noise(random, mebibytes * MIB))).isEqualTo(LeakState.NONE);
    }

    // What fills up and is emptied again, in periods that fit into a quarter of the points.
    @Property(tries = 500)
    void aSawtoothIsNone(
            @ForAll @IntRange(min = 2, max = 25) int period,
            @ForAll @IntRange(min = 0, max = 24) int start,
            @ForAll @LongRange(min = 1, max = 500) long mebibytes) {
        assertThat(state(100, i -> BASE + (i + start) % period * mebibytes * MIB))
                .isEqualTo(LeakState.NONE);
    }

    @Property(tries = 300)
    void evaluationsNowAndThenAreNone(@ForAll Random random, @ForAll @IntRange(min = 8, max = 120) int every) {
        assertThat(state(120, i -> BASE + noise(random, MIB) + (i % every == every - 1 ? 4_096 * MIB : 0)))
                .isEqualTo(LeakState.NONE);
    }

    @Test
    void oneStepUpIsNone() {
        assertThat(state(100, i -> i < 40 ? BASE : BASE + 512 * MIB)).isEqualTo(LeakState.NONE);
    }

    @Test
    void whatIsAlwaysTheSameOrFallsIsNone() {
        assertThat(state(100, i -> BASE)).isEqualTo(LeakState.NONE);
        assertThat(state(100, i -> BASE - i * MIB)).isEqualTo(LeakState.NONE);
        assertThat(state(100, i -> 0)).isEqualTo(LeakState.NONE);
    }

    @Test
    void growthThatDoesNotMatterIsNone() {
        assertThat(state(100, i -> BASE + i * 1024)).isEqualTo(LeakState.NONE);
        assertThat(state(100, i -> 8 * BASE + i * MIB / 2)).isEqualTo(LeakState.NONE);
    }

    @Test
    void aSeriesForgetsTheWarmUpAndTheOldestPoints() {
        LeakSeries series = new LeakSeries();
        for (long step = 1; step <= LeakSeries.WARM_UP_STEPS; step++) {
            series.add(step, MemoryBytes.of(step * 100 * MIB));
        }
        assertThat(series.verdict()).isEqualTo(Leak.UNKNOWN);

        List<LeakState> seen = new ArrayList<>();
        for (long step = 11; step <= 11 + 2L * LeakSeries.MAX_POINTS; step++) {
            series.add(step, MemoryBytes.of(BASE));
            seen.add(series.verdict().state());
        }
        assertThat(seen).contains(LeakState.UNKNOWN, LeakState.NONE).doesNotContain(LeakState.SUSPECTED);
        assertThat(series.verdict().points()).isEqualTo(LeakSeries.MAX_POINTS);
        series.clear();
        assertThat(series.verdict()).isEqualTo(Leak.UNKNOWN);
    }
}
