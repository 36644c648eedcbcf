package dev.ullage.coordinator.simulation;

/**
 * How full the cluster was as jobs arrived, at each whole percent of its capacity that had been asked for, from 0 on.
 *
 * @param allocated devices in use, percent of all
 * @param stranded fragmentation, percent of all devices
 * @param firstRefusal percent of capacity asked for when the first job found no place that there would be on an empty
 *     cluster; NaN when all of these did
 * @param refused jobs that found no place
 * @param arrived jobs
 */
@SuppressWarnings("ArrayRecordComponent") // read-only by convention of this package, and never compared
public record AllocationCurve(double[] allocated, double[] stranded, double firstRefusal, int refused, int arrived) {

    /** Fragmentation in percent of what was idle; 0 when nothing was. */
    public double strandedOfIdle(int percent) {
        double idle = 100 - allocated[percent];
        return idle <= 0 ? 0 : 100 * stranded[percent] / idle;
    }
}
