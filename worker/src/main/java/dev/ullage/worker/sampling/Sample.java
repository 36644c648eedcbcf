package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import java.time.Duration;
import java.util.List;

/**
 * The newest that is known of a device.
 *
 * @param reading the last one that could be used, with the problems of now; without amounts when there was none
 * @param ancestries where each process in it comes from
 * @param age of that reading, or of the wait for a first one
 */
public record Sample(
        DeviceId device, DeviceReading reading, List<Ancestry> ancestries, Duration age, SampleQuality quality) {
    public Sample {
        ancestries = List.copyOf(ancestries);
    }

    /** Whether this is a new measurement, fit to be acted on. */
    public boolean isFresh() {
        return quality.state() == SampleState.FRESH;
    }
}
