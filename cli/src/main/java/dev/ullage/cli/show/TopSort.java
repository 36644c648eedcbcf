package dev.ullage.cli.show;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** In which order {@code ullage top} lists devices and ranks; each by the key of its first letter. */
public enum TopSort {
    /** By node and number, the ranks by their devices. */
    DEVICE,
    /** The most used first. */
    USED,
    /** The devices by what is promised of their budget, the ranks by what they use of their limit. */
    FULLEST,
    /** The ranks by job and number. */
    JOB;

    /** The order of a key, if it is one's. */
    public static Optional<TopSort> ofKey(int key) {
        return Arrays.stream(values())
                .filter(sort -> sort.label().charAt(0) == key)
                .findFirst();
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** All of them, this one marked. */
    String choice() {
        return Arrays.stream(values())
                .map(sort -> sort == this ? "[" + sort.label() + "]" : sort.label())
                .collect(Collectors.joining(" "));
    }
}
