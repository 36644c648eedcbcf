package dev.ullage.config;

import java.util.Optional;

/**
 * What a report on a job reckons with.
 *
 * @param deviceHourPrice of a whole device, more than 0; empty: nothing is reckoned in money
 * @param currency as it is shown
 */
public record ReportSettings(Optional<Double> deviceHourPrice, String currency) {
    /** As shipped: no price is known. */
    public static ReportSettings defaults() {
        return new ReportSettings(Optional.empty(), "USD");
    }
}
