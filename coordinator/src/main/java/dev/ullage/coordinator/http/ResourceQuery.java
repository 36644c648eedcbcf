package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which part of a list somebody wants, read strictly: a filter that was misspelt must not show everything.
 *
 * @param filters what a field must be, as text; {@code null} for what is not known
 * @param problems everything that is wrong with it; then the rest has no meaning
 */
record ResourceQuery(int offset, int limit, SortedMap<String, String> filters, List<String> problems) {
    static final int DEFAULT_LIMIT = 100;
    static final int MAX_LIMIT = 1000;

    private static final String OFFSET = "offset";
    private static final String LIMIT = "limit";
    private static final Pattern WHOLE = Pattern.compile("\\d{1,9}");

    static ResourceQuery parse(Resource resource, List<Map.Entry<String, String>> parameters) {
        return parse(resource.filters(), parameters);
    }

    /** @param known the names of the filters there are */
    static ResourceQuery parse(List<String> known, List<Map.Entry<String, String>> parameters) {
        SortedMap<String, String> given = new TreeMap<>();
        List<String> problems = new ArrayList<>();
        for (Map.Entry<String, String> parameter : parameters) {
            String name = parameter.getKey();
            if (!name.equals(OFFSET) && !name.equals(LIMIT) && !known.contains(name)) {
                problems.add("unknown parameter \"" + name + "\"; known: offset, limit, " + String.join(", ", known));
            } else if (given.putIfAbsent(name, parameter.getValue()) != null) {
                problems.add(name + " is there twice");
            }
        }
        int offset = number(given.remove(OFFSET), OFFSET, 0, Integer.MAX_VALUE, problems);
        int limit =
                given.containsKey(LIMIT) ? number(given.remove(LIMIT), LIMIT, 1, MAX_LIMIT, problems) : DEFAULT_LIMIT;
        return new ResourceQuery(offset, limit, given, List.copyOf(problems));
    }

    boolean matches(JsonNode item) {
        return filters.entrySet().stream()
                .allMatch(filter -> item.path(filter.getKey()).asText().equals(filter.getValue()));
    }

    private static int number(@Nullable String text, String name, int min, int max, List<String> problems) {
        if (text == null) {
            return min;
        }
        if (!WHOLE.matcher(text).matches() || Integer.parseInt(text) < min || Integer.parseInt(text) > max) {
            problems.add(name + " must be a whole number of " + min
                    + (max == Integer.MAX_VALUE ? " or more" : " to " + max));
            return min;
        }
        return Integer.parseInt(text);
    }
}
