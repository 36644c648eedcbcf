package dev.ullage.config;

import java.util.Locale;

/** Whether the jobs of a device take turns at their bursts. */
public enum TurnMode {
    /** Never. */
    OFF,
    /** Where the policy's limits do not hold the bursts of all ranks, and turns do. */
    AUTO;

    /** As the settings spell it. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
