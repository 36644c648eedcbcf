package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.worker.sampling.DeviceReaders.Measurement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What a device's readings have come to: the last that could be used, and how many could not. Immutable, pure.
 *
 * @param goodAt when {@code lastGood} was made; the start of the watch while there is none
 */
record SampleHistory(
        DeviceId device, Optional<Measurement> lastGood, Instant goodAt, List<String> problems, long lostSamples) {

    SampleHistory {
        problems = List.copyOf(problems);
    }

    static SampleHistory start(DeviceId device, Instant now) {
        return new SampleHistory(device, Optional.empty(), now, List.of(), 0);
    }

    /**
     * A reading of which nothing is known is a lost sample that says why.
     *
     * @param readAt when it was made
     */
    SampleHistory answered(Measurement measured, Instant readAt) {
        DeviceReading reading = measured.reading();
        if (!measured.isUsable()) {
            return new SampleHistory(device, lastGood, goodAt, reading.problems(), lostSamples + 1);
        }
        return new SampleHistory(device, Optional.of(measured), readAt, reading.problems(), lostSamples);
    }

    /** A round without an answer. */
    SampleHistory missed(Duration waited) {
        String problem = "the driver has not answered for " + waited.toMillis()
                + " ms; the call is left waiting and no other is made, figures are the last known";
        return new SampleHistory(device, lastGood, goodAt, List.of(problem), lostSamples + 1);
    }

    Sample at(Instant now, SamplingSchedule schedule) {
        Duration between = Duration.between(goodAt, now);
        Duration age = between.isNegative() ? Duration.ZERO : between;
        Optional<DeviceReading> last = lastGood.map(Measurement::reading);
        DeviceReading reading = new DeviceReading(
                last.flatMap(DeviceReading::memory), last.flatMap(DeviceReading::processes), problems);
        List<Ancestry> ancestries = lastGood.map(Measurement::ancestries).orElse(List.of());
        return new Sample(device, reading, ancestries, age, new SampleQuality(schedule.stateAt(age), lostSamples));
    }
}
