package dev.ullage.coordinator.report;

/**
 * What a device costs.
 *
 * @param perDeviceHour of a whole device, more than 0
 */
public record Price(double perDeviceHour, String currency) {
    public Price {
        if (!(perDeviceHour > 0 && perDeviceHour < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("a price must be more than 0: " + perDeviceHour);
        }
    }
}
