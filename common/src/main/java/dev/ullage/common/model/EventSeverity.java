package dev.ullage.common.model;

import java.util.Locale;

/** How much an event matters to a person. */
public enum EventSeverity {
    /** As it should be. */
    INFO,
    /** Degraded, but safe. */
    WARNING;

    /** As people and JSON see it. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
