package dev.ullage.common.model;

/**
 * A device's UUID as the driver gives it ({@code GPU-...}, {@code MIG-...}) or as a simulation makes it. No index.
 *
 * @param value not blank, at most {@value #MAX_LENGTH} characters, none of them a control character
 */
public record DeviceId(String value) implements Comparable<DeviceId> {
    public static final int MAX_LENGTH = 200;

    public DeviceId {
        Names.requireName("a device's UUID", value, MAX_LENGTH);
    }

    @Override
    public int compareTo(DeviceId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
