package dev.ullage.coordinator.simulation;

import java.util.Arrays;

/**
 * What became of the jobs with devices that were submitted in the measured time, and of the devices in it.
 *
 * @param waits seconds from submission to start, ascending
 * @param used shares asked for by what ran, percent of all devices, mean over the measured time
 * @param given devices that were taken from others, percent of all: whole ones when they are given whole
 * @param done jobs with devices that ended within the measured time
 * @param high jobs of high priority that were submitted
 * @param highAtOnce of those, started in the same moment
 * @param stillWaiting jobs that waited when the measured time was over
 */
@SuppressWarnings("ArrayRecordComponent") // read-only by convention of this package, and never compared
public record LoadOutcome(
        double[] waits, double used, double given, int done, int high, int highAtOnce, int stillWaiting) {

    public double meanWait() {
        return Arrays.stream(waits).average().orElse(Double.NaN);
    }

    /** The least that this percent of the waits do not exceed; NaN when nobody waited for anything. */
    public double wait(int percent) {
        return waits.length == 0 ? Double.NaN : waits[Math.max(0, (int) Math.ceil(waits.length * percent / 100.0) - 1)];
    }

    /** Percent of the jobs of high priority; NaN when there were none. */
    public double highAtOncePercent() {
        return high == 0 ? Double.NaN : 100.0 * highAtOnce / high;
    }
}
