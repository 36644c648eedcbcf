package dev.ullage.common.model;

import org.jspecify.annotations.Nullable;

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

    // A record's own are method handles, which the JVM's quick compiler calls one by one; this is a key on every path.

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof DeviceId id && value.equals(id.value));
    }

    @Override
    public int hashCode() {
        return value.hashCode();
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
