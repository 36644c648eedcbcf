package dev.ullage.cli.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which options a launcher has and how many values follow each: without that nobody can tell where the ranks' command
 * begins. An option that is not in the table and brings no value along ({@code --x=y}) is not guessed at. Pure.
 *
 * <p>Names are compared without their hyphens in front, and with {@code -} for {@code _}.
 */
final class OptionTable {
    private final Map<String, Integer> values;
    private final boolean isAttaching;

    /** An option as it was given; the words {@code from} to {@code to}, the last one not included. */
    record Given(String name, List<String> values, int from, int to) {}

    /**
     * @param end the first word behind the options
     * @param problem why reading ended before, if it did
     */
    record Parsed(List<Given> given, int end, Optional<String> problem) {
        /** The first value of the option's last use. */
        Optional<String> value(String... names) {
            return last(names).filter(option -> !option.values().isEmpty()).map(option -> option.values()
                    .get(0));
        }

        boolean has(String... names) {
            return last(names).isPresent();
        }

        Optional<Given> last(String... names) {
            List<String> wanted = List.of(names);
            return given.stream()
                    .filter(option -> wanted.contains(option.name()))
                    .reduce((first, second) -> second);
        }
    }

    private OptionTable(Map<String, Integer> values, boolean isAttaching) {
        this.values = values;
        this.isAttaching = isAttaching;
    }

    /**
     * @param flags the options without a value, separated by blanks
     * @param single those with one
     * @param pairs those with two
     * @param isAttaching whether the value of a short option may be written without a blank, as in {@code -n4}
     */
    static OptionTable of(String flags, String single, String pairs, boolean isAttaching) {
        Map<String, Integer> values = new TreeMap<>();
        put(values, flags, 0);
        put(values, single, 1);
        put(values, pairs, 2);
        return new OptionTable(values, isAttaching);
    }

    private static void put(Map<String, Integer> values, String names, int count) {
        for (String name : names.strip().split("\\s+")) {
            values.put(name, count);
        }
    }

    /** Reads the options from word {@code start} on. */
    Parsed parse(List<String> words, int start) {
        List<Given> given = new ArrayList<>();
        int at = start;
        while (at < words.size()) {
            String word = words.get(at);
            if (word.equals("--")) {
                return new Parsed(List.copyOf(given), at + 1, Optional.empty());
            }
            if (!word.startsWith("-") || word.equals("-")) {
                break;
            }
            Optional<Given> option = option(words, at);
            if (option.isEmpty() || option.get().to() > words.size()) {
                String why = option.isEmpty() ? "is not known here" : "has no value";
                return new Parsed(List.copyOf(given), at, Optional.of("option " + word + " " + why));
            }
            given.add(option.get());
            at = option.get().to();
        }
        return new Parsed(List.copyOf(given), at, Optional.empty());
    }

    private Optional<Given> option(List<String> words, int at) {
        String word = words.get(at);
        int equals = word.indexOf('=');
        if (equals > 0 && (word.startsWith("--") || !isAttaching)) {
            return Optional.of(
                    new Given(canonical(word.substring(0, equals)), List.of(word.substring(equals + 1)), at, at + 1));
        }
        String name = canonical(word);
        Integer count = values.get(name);
        if (count != null) {
            int to = at + 1 + count;
            return Optional.of(
                    new Given(name, words.subList(Math.min(at + 1, words.size()), Math.min(to, words.size())), at, to));
        }
        return isAttaching && !word.startsWith("--") ? attached(word, at) : Optional.empty();
    }

    /** {@code -n4}, a flag that brings a number along as in {@code -K1}, or several flags in one word. */
    private Optional<Given> attached(String word, int at) {
        String first = word.substring(1, 2);
        Integer count = values.get(first);
        if (count == null) {
            return Optional.empty();
        }
        if (count > 0 || word.substring(2).matches("\\d+")) {
            return Optional.of(new Given(first, List.of(word.substring(2)), at, at + 1));
        }
        boolean areFlags =
                word.chars().skip(1).allMatch(letter -> values.getOrDefault(String.valueOf((char) letter), 1) == 0);
        return areFlags ? Optional.of(new Given(first, List.of(), at, at + 1)) : Optional.empty();
    }

    private static String canonical(String word) {
        String name = word.replaceFirst("^--?", "");
        return name.length() == 1 ? name : name.replace('_', '-').toLowerCase(Locale.ROOT);
    }
}
