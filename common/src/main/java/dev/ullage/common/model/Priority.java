package dev.ullage.common.model;

import java.util.Locale;

/** How much a job matters when not every request fits a device. */
public enum Priority {
    HIGH,
    MEDIUM,
    LOW;

    /** As people write it: {@code high}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String toString() {
        return label();
    }
}
