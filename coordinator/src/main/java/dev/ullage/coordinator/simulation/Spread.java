package dev.ullage.coordinator.simulation;

import java.util.Arrays;

/**
 * Of one figure over several runs.
 *
 * @param deviation standard deviation of the sample; 0 for a single run
 */
public record Spread(double mean, double deviation, double min, double max) {

    public static Spread of(double... values) {
        double mean = Arrays.stream(values).average().orElse(Double.NaN);
        double squares = Arrays.stream(values).map(v -> (v - mean) * (v - mean)).sum();
        return new Spread(
                mean,
                values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1)),
                Arrays.stream(values).min().orElse(Double.NaN),
                Arrays.stream(values).max().orElse(Double.NaN));
    }
}
