package dev.ullage.common.model;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** What somebody may have meant who wrote a name that is not known. */
public final class Nearest {
    private static final int LETTERS_PER_MISTAKE = 3;
    private static final int MAX_MISTAKES = 3;

    private Nearest() {}

    /**
     * The known name that takes the fewest changes, capitals aside: at most one for each three letters, and three at
     * most. Of several the first in order.
     */
    public static Optional<String> of(String name, Collection<String> known) {
        String wanted = name.toLowerCase(Locale.ROOT);
        int allowed = Math.min(MAX_MISTAKES, Math.max(1, name.length() / LETTERS_PER_MISTAKE));
        return known.stream()
                .filter(candidate -> distance(candidate.toLowerCase(Locale.ROOT), wanted) <= allowed)
                .min(Comparator.comparingInt((String candidate) -> distance(candidate.toLowerCase(Locale.ROOT), wanted))
                        .thenComparing(Comparator.naturalOrder()));
    }

    /** For a message: {@code (did you mean NAME?)}, or nothing. */
    public static String suggestion(String name, Collection<String> known) {
        return of(name, known).map(near -> " (did you mean " + near + "?)").orElse("");
    }

    /** Levenshtein's: letters to insert, delete or replace. */
    public static int distance(String left, String right) {
        int[] previous = new int[right.length() + 1];
        for (int j = 0; j <= right.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= left.length(); i++) {
            int[] current = new int[right.length() + 1];
            current[0] = i;
            for (int j = 1; j <= right.length(); j++) {
                int replaced = previous[j - 1] + (left.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(replaced, Math.min(previous[j], current[j - 1]) + 1);
            }
            previous = current;
        }
        return previous[right.length()];
    }
}
