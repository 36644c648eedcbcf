package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.planning.Estimated.PLANNED;
import static dev.ullage.coordinator.planning.Estimated.peaks;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankWatch.MicroBatchPeaks;
import dev.ullage.common.model.RankWatch.MicroBatches;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.coordinator.planning.MicroBatchLine.Line;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

/** What another size of the micro-batch would need, by what was measured. */
class MicroBatchLineTest {

    /** One size, of which the allocator says what it reserved. */
    static List<MicroBatchPeaks> sizes(int samples, Map<Phase, MemoryBytes> reserved) {
        return List.of(new MicroBatchPeaks(
                samples,
                reserved.entrySet().stream()
                        .map(peak -> new PhasePeak(peak.getKey(), Optional.of(peak.getValue()), Optional.empty()))
                        .toList()));
    }

    private static MicroBatchPeaks backward(int samples, long reserved, Optional<MemoryBytes> allocated) {
        return new MicroBatchPeaks(
                samples, List.of(new PhasePeak(Phase.BACKWARD, Optional.of(MemoryBytes.of(reserved)), allocated)));
    }

    private static MicroBatchLine line(MicroBatchPeaks... sizes) {
        return MicroBatchLine.of(PLANNED, new MicroBatches(1, List.of(sizes))).orElseThrow();
    }

    private static Line backward(MicroBatchLine line) {
        return Optional.ofNullable(line.phases().get(Phase.BACKWARD)).orElseThrow();
    }

    @Test
    void twoSizesGiveALineThatIsExactWhereMemoryIsLinear() {
        MicroBatchLine line = line(
                backward(4, 150, Optional.of(MemoryBytes.of(100 + 4 * 10))),
                backward(8, 190, Optional.of(MemoryBytes.of(100 + 8 * 10))));

        assertThat(line.sizes()).isEqualTo(2);
        assertThat(backward(line)).isEqualTo(new Line(8, MemoryBytes.of(190), MemoryBytes.of(10)));
        assertThat(line.beyond(Phase.BACKWARD, 11)).isEqualTo(MemoryBytes.of(30));
        assertThat(line.beyond(Phase.BACKWARD, 7)).isEqualTo(MemoryBytes.ZERO);
        assertThat(line.beyond(Phase.FORWARD, 11)).isEqualTo(MemoryBytes.ZERO);
        assertThat(line.largestWithin(MemoryBytes.of(215))).hasValue(10);
        assertThat(line.largestWithin(MemoryBytes.of(150))).hasValue(4);
        assertThat(line.largestWithin(MemoryBytes.of(119))).isEmpty();
    }

    // A caching allocator keeps the larger size's blocks, so what is reserved with the smaller one afterwards says
    // nothing.
    @Test
    void whereTheReservedPeakDidNotRiseWhatExceedsThePlannedStateCountsAsProportional() {
        long reserved = gib(14 + 8).value();

        assertThat(backward(line(backward(2, reserved, Optional.empty()), backward(4, reserved, Optional.empty()))))
                .isEqualTo(new Line(4, gib(22), gib(2)));
        assertThat(backward(line(backward(4, reserved, Optional.empty())))).isEqualTo(new Line(4, gib(22), gib(2)));
    }

    @Test
    void aRiseOfWhatIsReservedCountsWhereNothingElseIsKnown() {
        assertThat(backward(line(backward(2, 120, Optional.empty()), backward(4, 141, Optional.empty()))))
                .isEqualTo(new Line(4, MemoryBytes.of(141), MemoryBytes.of(11)));
    }

    @Test
    void thePhaseThatRunsOutFirstDecides() {
        MicroBatchLine line = MicroBatchLine.of(PLANNED, new MicroBatches(4, sizes(4, peaks(4, 18, 22, 14))))
                .orElseThrow();

        // Forward: 4 GiB beside the state, 1 for a sample. Backward: 8 and 2. Optimizer: nothing beside it.
        assertThat(line.highest()).isEqualTo(new Line(4, gib(22), gib(2)));
        assertThat(line.largestWithin(gib(28))).hasValue(7);
    }

    // A size that ran out of memory in its backward pass was measured in its forward pass alone.
    @Test
    void eachPhaseGoesByTheLargestSizeOfWhichItIsKnown() {
        MicroBatchPeaks forward = new MicroBatchPeaks(
                8, List.of(new PhasePeak(Phase.FORWARD, Optional.of(MemoryBytes.of(70)), Optional.empty())));
        MicroBatchLine line = line(backward(4, gib(22).value(), Optional.empty()), forward);

        assertThat(backward(line)).isEqualTo(new Line(4, gib(22), gib(2)));
        assertThat(line.phases().get(Phase.FORWARD)).isEqualTo(new Line(8, MemoryBytes.of(70), MemoryBytes.ZERO));
    }

    @Test
    void nothingIsSaidBeforeASizeWasMeasured() {
        assertThat(MicroBatchLine.of(PLANNED, new MicroBatches(4, List.of()))).isEmpty();
        assertThat(MicroBatchLine.of(PLANNED, new MicroBatches(4, List.of(new MicroBatchPeaks(4, List.of())))))
                .isEmpty();
    }

    @Property
    void theLargestSizeThatFitsFitsAndOneMoreDoesNot(
            @ForAll @LongRange(max = 1L << 40) long fixed,
            @ForAll @LongRange(min = 1, max = 1L << 30) long perSample,
            @ForAll @IntRange(min = 1, max = 500) int small,
            @ForAll @IntRange(min = 501, max = 1000) int large,
            @ForAll @LongRange(max = 1L << 42) long room) {
        MicroBatchLine line = line(
                backward(small, 1, Optional.of(MemoryBytes.of(fixed + small * perSample))),
                new MicroBatchPeaks(
                        large,
                        List.of(new PhasePeak(
                                Phase.BACKWARD,
                                Optional.empty(),
                                Optional.of(MemoryBytes.of(fixed + large * perSample))))));

        int fits = line.largestWithin(MemoryBytes.of(room)).orElse(0);
        assertThat(fits == 0 || fixed + fits * perSample <= room).isTrue();
        assertThat(fits == Integer.MAX_VALUE || fixed + (fits + 1L) * perSample > room)
                .isTrue();
    }
}
