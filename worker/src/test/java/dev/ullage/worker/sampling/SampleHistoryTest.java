package dev.ullage.worker.sampling;

import static dev.ullage.common.testing.Fixtures.gib;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.worker.sampling.DeviceReaders.Measurement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is said of a device that answers, does not answer, or answers that nothing is known. */
class SampleHistoryTest {
    private static final Instant T0 = Instant.parse("2026-01-01T00:00:00Z");
    private static final DeviceId DEVICE = new DeviceId("GPU-1");
    private static final SamplingSchedule SCHEDULE = SamplingSchedule.every(Duration.ofSeconds(1));
    private static final DeviceReading READING = new DeviceReading(
            Optional.of(new MemoryUse(gib(80), Optional.of(gib(1)), gib(10), gib(69))),
            Optional.of(List.of()),
            List.of());
    private static final Measurement GOOD = new Measurement(READING, List.of(new Ancestry(7, true, List.of(6L))));
    private static final List<String> LOST = List.of("GPU_IS_LOST");
    private static final Measurement FAILED =
            new Measurement(new DeviceReading(Optional.empty(), Optional.empty(), LOST), List.of());

    private static Instant at(long millis) {
        return T0.plusMillis(millis);
    }

    private final SampleHistory start = SampleHistory.start(DEVICE, T0);

    @Test
    void aReadingIsFreshUntilThreeSecondsAndLostAfterEleven() {
        SampleHistory read = start.answered(GOOD, T0);

        assertThat(read.at(at(2_999), SCHEDULE).quality()).isEqualTo(new SampleQuality(SampleState.FRESH, 0));
        assertThat(read.at(at(3_000), SCHEDULE).quality()).isEqualTo(new SampleQuality(SampleState.STALE, 0));
        assertThat(read.at(at(11_000), SCHEDULE).quality()).isEqualTo(new SampleQuality(SampleState.LOST, 0));
    }

    @Test
    void aRoundWithoutAnAnswerKeepsTheLastFiguresWithTheirAgeAndIsCounted() {
        Sample sample = start.answered(GOOD, T0)
                .missed(Duration.ofMillis(1_500))
                .missed(Duration.ofMillis(2_500))
                .at(at(2_500), SCHEDULE);

        assertThat(sample.reading().memory()).isEqualTo(READING.memory());
        assertThat(sample.age()).isEqualTo(Duration.ofMillis(2_500));
        assertThat(sample.quality()).isEqualTo(new SampleQuality(SampleState.FRESH, 2));
        assertThat(sample.reading().problems())
                .containsExactly("the driver has not answered for 2500 ms; the call is left waiting and no other is"
                        + " made, figures are the last known");
    }

    @Test
    void anAnswerThatKnowsNothingIsALostSampleWithItsReason() {
        Sample sample = start.answered(GOOD, T0).answered(FAILED, at(1_000)).at(at(1_000), SCHEDULE);

        assertThat(sample.reading()).isEqualTo(new DeviceReading(READING.memory(), READING.processes(), LOST));
        assertThat(sample.ancestries()).isEqualTo(GOOD.ancestries());
        assertThat(sample.age()).isEqualTo(Duration.ofSeconds(1));
        assertThat(sample.quality().lostSamples()).isEqualTo(1);
    }

    @Test
    void whatWasNeverReadIsUnknownAndItsAgeIsTheWait() {
        Sample sample = start.answered(FAILED, at(5_000)).at(at(5_000), SCHEDULE);

        assertThat(sample.reading().memory()).isEmpty();
        assertThat(sample.age()).isEqualTo(Duration.ofSeconds(5));
        assertThat(sample.quality().state()).isEqualTo(SampleState.STALE);
    }

    @Test
    void aClockThatWasSetBackMakesNoNegativeAge() {
        assertThat(start.answered(GOOD, at(5_000)).at(T0, SCHEDULE).age()).isEqualTo(Duration.ZERO);
    }

    @Test
    void aSampleIsLostOnlyAfterItWasStaleAndStaleOnlyAfterARound() {
        assertThat(SamplingSchedule.every(Duration.ofMillis(100)).deadline()).isEqualTo(Duration.ofSeconds(1));
        assertThat(SamplingSchedule.every(Duration.ofSeconds(5)).deadline()).isEqualTo(Duration.ofSeconds(5));
        Duration second = Duration.ofSeconds(1);
        assertThatThrownBy(() -> new SamplingSchedule(second, second, second, Duration.ofSeconds(2)))
                .hasMessage("interval PT1S, stale after PT1S, lost after PT2S must each be longer");
        assertThatThrownBy(() -> SamplingSchedule.every(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
    }
}
