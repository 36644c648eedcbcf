package dev.ullage.common.model;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** How much a job matters when not every request fits a device. */
public enum Priority {
    HIGH,
    MEDIUM,
    LOW;

    /** @throws IllegalArgumentException when there is none of this name; the message says which there are */
    public static Priority of(String label) {
        return Arrays.stream(values())
                .filter(priority -> priority.label().equals(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no priority is called " + Names.quoted(label)
                        + Nearest.suggestion(label, labels()) + "; known: " + String.join(", ", labels())));
    }

    private static List<String> labels() {
        return Arrays.stream(values()).map(Priority::label).toList();
    }

    /** As people write it: {@code high}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String toString() {
        return label();
    }
}
