package dev.ullage.config;

import java.time.Duration;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them: a whole number and a unit. A number alone would be guessed at, so it is refused. */
public final class Durations {
    private static final Pattern FORM = Pattern.compile("(\\d{1,9})\\s*(ms|s|m|h)");

    private Durations() {}

    /** Reads a duration of {@code min} to {@code max}; throws {@link IllegalArgumentException} with the rule. */
    public static Function<String, Duration> parser(Duration min, Duration max) {
        return text -> {
            String range = "must be a duration from " + show(min) + " to " + show(max);
            Matcher matcher = FORM.matcher(text.strip());
            if (!matcher.matches()) {
                throw new IllegalArgumentException(range + " with a unit: 250ms, 5s, 2m, 1h");
            }
            Duration value = Duration.ofMillis(Math.multiplyExact(Long.parseLong(matcher.group(1)), millis(matcher)));
            if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
                throw new IllegalArgumentException(range);
            }
            return value;
        };
    }

    /** The shortest text with one unit that names {@code duration}, to the millisecond. */
    public static String show(Duration duration) {
        long millis = duration.toMillis();
        if (millis % 3_600_000 == 0) {
            return millis / 3_600_000 + "h";
        }
        if (millis % 60_000 == 0) {
            return millis / 60_000 + "m";
        }
        return millis % 1_000 == 0 ? millis / 1_000 + "s" : millis + "ms";
    }

    private static long millis(Matcher matcher) {
        return switch (matcher.group(2)) {
            case "ms" -> 1;
            case "s" -> 1_000;
            case "m" -> 60_000;
            default -> 3_600_000;
        };
    }
}
