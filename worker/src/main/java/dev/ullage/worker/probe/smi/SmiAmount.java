package dev.ullage.worker.probe.smi;

import dev.ullage.common.model.MemoryBytes;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An amount of memory as the tool printed it, or what it printed in place of one.
 *
 * @param bytes the amount, exact for what was printed; empty when it is not known, never zero for that
 * @param reason why it is not known; empty text when it is
 */
public record SmiAmount(Optional<MemoryBytes> bytes, String reason) {
    /** A part that this kind of output does not have. */
    public static final SmiAmount NOT_PRINTED = unknown("not part of this output");

    private static final Pattern PRINTED = Pattern.compile("(\\d{1,18})\\s*(B|KiB|MiB|GiB)?");
    private static final Pattern CUT_OFF = Pattern.compile("\\d+\\.{2,}");
    private static final int MAX_REASON_LENGTH = 80;
    /** 256 TiB: below it sums do not overflow. */
    private static final long MOST_BYTES = 1L << 48;

    public static SmiAmount of(MemoryBytes bytes) {
        return new SmiAmount(Optional.of(bytes), "");
    }

    public static SmiAmount unknown(String reason) {
        return new SmiAmount(Optional.empty(), reason);
    }

    /**
     * Reads {@code 8192 MiB}, {@code 214MiB}, a bare number, or the words in place of one.
     *
     * @param usualUnit what a bare number counts, as the heading says; empty if it says nothing
     */
    static SmiAmount parse(String text, String usualUnit) {
        // Some locales put a blank that does not break before a unit.
        String value = text.replace('\u00a0', ' ').strip();
        if (CUT_OFF.matcher(value).matches()) {
            return unknown("'" + value + "' is cut off");
        }
        Matcher printed = PRINTED.matcher(value);
        if (!printed.matches()) {
            return unknown(
                    value.isEmpty()
                            ? "nothing is printed"
                            : value.chars().anyMatch(Character::isDigit)
                                    ? "'" + words(value) + "' is not a whole number of bytes, KiB, MiB or GiB"
                                    : words(value));
        }
        String unit = printed.group(2) == null ? usualUnit : printed.group(2);
        long unitBytes = unitBytes(unit);
        long number = Long.parseLong(printed.group(1));
        if (unitBytes == 0) {
            return unknown("'" + value + "' has no unit");
        }
        if (number > MOST_BYTES / unitBytes) {
            return unknown("'" + value + "' is more than any device has");
        }
        return of(MemoryBytes.of(number * unitBytes));
    }

    private static long unitBytes(String unit) {
        return switch (unit.toLowerCase(Locale.ROOT)) {
            case "b" -> 1;
            case "kib" -> 1L << 10;
            case "mib" -> MemoryBytes.MEBIBYTE;
            case "gib" -> MemoryBytes.GIBIBYTE;
            default -> 0;
        };
    }

    /** {@code [Not Supported]} and {@code Not Supported} are one reason. */
    static String words(String value) {
        String text = value.strip().replaceAll("\\p{Cntrl}", "?");
        String bare = text.startsWith("[") && text.endsWith("]") ? text.substring(1, text.length() - 1) : text;
        return bare.length() <= MAX_REASON_LENGTH ? bare : bare.substring(0, MAX_REASON_LENGTH) + "...";
    }

    public boolean isKnown() {
        return bytes.isPresent();
    }

    /** This one, or the other where this is not known. What was printed and is no number says more than no print. */
    SmiAmount or(SmiAmount other) {
        if (isKnown() || (!other.isKnown() && !equals(NOT_PRINTED))) {
            return this;
        }
        return other;
    }

    @Override
    public String toString() {
        return bytes.map(MemoryBytes::toString).orElse("unknown (" + reason + ")");
    }
}
