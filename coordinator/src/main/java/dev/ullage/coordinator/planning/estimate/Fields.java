package dev.ullage.coordinator.planning.estimate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** Typed access to named values; what cannot be read is noted as a {@link Problem} and the fallback used meanwhile. */
final class Fields {
    /** More digits than any real field has, few enough that no product of two of them overflows a double. */
    private static final int MAX_DIGITS = 15;

    private final Map<String, String> values;
    private final List<Problem> problems = new ArrayList<>();

    Fields(Map<String, String> values) {
        this.values = Map.copyOf(values);
    }

    List<Problem> problems() {
        return List.copyOf(problems);
    }

    void problem(String field, String rule) {
        problems.add(new Problem(field, values.getOrDefault(field, ""), rule));
    }

    /** None of these is already known to be wrong or missing, so that a rule between them says something. */
    boolean areUsable(String... fields) {
        return problems.stream().noneMatch(problem -> List.of(fields).contains(problem.field()));
    }

    Optional<String> text(String field) {
        return Optional.ofNullable(values.get(field)).map(String::strip).filter(text -> !text.isEmpty());
    }

    boolean has(String field) {
        return text(field).isPresent();
    }

    /** A whole number from {@code least} to {@code most}; {@code 7e9} and {@code 8B} are not whole numbers. */
    OptionalLong number(String field, long least, long most) {
        Optional<String> text = text(field);
        if (text.isEmpty()) {
            return OptionalLong.empty();
        }
        String digits = text.get();
        if (digits.matches("\\d{1," + MAX_DIGITS + "}")) {
            long value = Long.parseLong(digits);
            if (value >= least && value <= most) {
                return OptionalLong.of(value);
            }
        }
        problem(field, "a whole number from " + least + " to " + most);
        return OptionalLong.empty();
    }

    long number(String field, long least, long most, long otherwise) {
        return number(field, least, most).orElse(otherwise);
    }

    /** As {@link #number(String, long, long, long)} for small ranges. */
    int count(String field, int least, int most, int otherwise) {
        return (int) number(field, least, most, otherwise);
    }

    /** A field that nothing can stand in for. */
    int required(String field, int most) {
        if (!has(field)) {
            problem(field, "needed: a whole number from 1 to " + most);
            return 1;
        }
        return count(field, 1, most, 1);
    }

    Optional<Boolean> flag(String field) {
        Optional<String> text = text(field).map(value -> value.toLowerCase(Locale.ROOT));
        if (text.isEmpty()) {
            return Optional.empty();
        }
        if (text.get().equals("true") || text.get().equals("yes")) {
            return Optional.of(true);
        }
        if (text.get().equals("false") || text.get().equals("no")) {
            return Optional.of(false);
        }
        problem(field, "true or false");
        return Optional.empty();
    }

    boolean flag(String field, boolean otherwise) {
        return flag(field).orElse(otherwise);
    }

    /** One of an enum's names, in lower case with hyphens. */
    <E extends Enum<E>> Optional<E> choice(String field, Class<E> type) {
        Optional<String> text = text(field);
        if (text.isEmpty()) {
            return Optional.empty();
        }
        String wanted = text.get().toLowerCase(Locale.ROOT);
        for (E value : type.getEnumConstants()) {
            if (nameOf(value).equals(wanted)) {
                return Optional.of(value);
            }
        }
        problem(
                field,
                "one of "
                        + Arrays.stream(type.getEnumConstants())
                                .map(Fields::nameOf)
                                .collect(Collectors.joining(", ")));
        return Optional.empty();
    }

    /** Whole numbers between commas, each 0 or more. */
    Optional<List<Integer>> numbers(String field) {
        Optional<String> text = text(field);
        if (text.isEmpty()) {
            return Optional.empty();
        }
        if (!text.get().matches("\\d{1,6}(\\s*,\\s*\\d{1,6})*")) {
            problem(field, "whole numbers of 0 or more with commas between them");
            return Optional.empty();
        }
        return Optional.of(Arrays.stream(text.get().split(","))
                .map(part -> Integer.valueOf(part.strip()))
                .toList());
    }

    static String nameOf(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
