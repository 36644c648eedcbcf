package dev.ullage.cli.estimate;

import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/**
 * How far estimates are from measurements.
 *
 * @param rows how many were measured
 * @param medianErrorPercent of |estimate / measured - 1|
 * @param p90ErrorPercent nine rows of ten are no further off (nearest rank)
 * @param underPercent rows that are estimated more than 5 % too low
 * @param upperBelowMeasuredPercent rows whose interval ends below what was measured
 * @param widestUpperPercent how far the interval ends above the point, at most
 */
record Accuracy(
        int rows,
        double medianErrorPercent,
        double p90ErrorPercent,
        double underPercent,
        double upperBelowMeasuredPercent,
        double widestUpperPercent) {
    private static final double TOO_LOW = -0.05;

    static Accuracy of(List<Sample> samples) {
        return of(samples, Sample::error);
    }

    /** With the first iteration's peak known; only of rows that have one. */
    static Accuracy afterOneIteration(List<Sample> samples) {
        List<Sample> known =
                samples.stream().filter(sample -> sample.afterOne().isPresent()).toList();
        return of(known, sample -> sample.afterOne().getAsDouble() / sample.measured() - 1);
    }

    private static Accuracy of(List<Sample> samples, ToDoubleFunction<Sample> error) {
        double[] errors =
                samples.stream().mapToDouble(error).map(Math::abs).sorted().toArray();
        return new Accuracy(
                samples.size(),
                100 * atRank(errors, 0.5),
                100 * atRank(errors, 0.9),
                share(samples, sample -> error.applyAsDouble(sample) < TOO_LOW),
                share(samples, sample -> sample.upper() < sample.measured()),
                100
                        * samples.stream()
                                .mapToDouble(sample -> sample.upper() / sample.point() - 1)
                                .max()
                                .orElse(0));
    }

    /** The smallest value that at least the share {@code part} of all does not exceed; 0 for no values. */
    private static double atRank(double[] sorted, double part) {
        return sorted.length == 0 ? 0 : sorted[Math.max(0, (int) Math.ceil(part * sorted.length) - 1)];
    }

    private static double share(List<Sample> samples, Predicate<Sample> which) {
        return samples.isEmpty() ? 0 : 100.0 * samples.stream().filter(which).count() / samples.size();
    }
}
