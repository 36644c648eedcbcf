package dev.ullage.coordinator.http;

import dev.ullage.common.model.EventId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which events somebody wants, read strictly.
 *
 * @param since only later ones; empty: all that are kept
 */
record EventFilter(Optional<EventId> since, ResourceQuery query) {
    private static final String SINCE = "since";
    private static final List<String> FILTERS = List.of(SINCE, "kind", "severity", "node", "device", "job", "rank");

    static EventFilter parse(List<Map.Entry<String, String>> parameters) {
        ResourceQuery query = ResourceQuery.parse(FILTERS, parameters);
        TreeMap<String, String> filters = new TreeMap<>(query.filters());
        List<String> problems = new ArrayList<>(query.problems());
        Optional<EventId> since = id(filters.remove(SINCE), SINCE, problems);
        return new EventFilter(since, new ResourceQuery(query.offset(), query.limit(), filters, problems));
    }

    /** @param name of what is wrong, when it is */
    static Optional<EventId> id(@Nullable String text, String name, List<String> problems) {
        if (text == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(EventId.parse(text));
        } catch (IllegalArgumentException e) {
            problems.add(name + " " + e.getMessage());
            return Optional.empty();
        }
    }
}
