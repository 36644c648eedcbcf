package dev.ullage.common.model;

import java.util.Locale;

/** What a device is, which decides how its memory is read and whether a limit can be worked out. */
public enum DeviceKind {
    /** A GPU with memory of its own. */
    DISCRETE,
    /** A slice of a GPU in MIG mode. */
    MIG,
    /** A GPU that shares the host's memory. */
    UNIFIED,
    /** Made by {@code --simulate}; never by accident. */
    SIMULATED;

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
