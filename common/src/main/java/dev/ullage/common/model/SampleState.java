package dev.ullage.common.model;

import java.util.Locale;

/** How far the newest reading of a device can be relied on, by its age alone. */
public enum SampleState {
    /** Read at the usual pace. */
    FRESH,
    /** Some rounds went by without an answer: fit to be shown, not to let anything grow. */
    STALE,
    /** No answer for so long that nobody knows what the device holds; it may be gone. */
    LOST;

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
