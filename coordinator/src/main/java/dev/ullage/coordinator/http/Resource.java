package dev.ullage.coordinator.http;

import java.util.List;
import java.util.Locale;

/** The lists under {@code /api/v1/}, each with the fields by which it can be narrowed down. */
enum Resource {
    NODES("node", "draining"),
    DEVICES("node", "uuid", "kind", "rollout", "overBudget"),
    JOBS("job"),
    RANKS("node", "device", "job", "rank", "phase", "enforcedBy", "connected", "settled"),
    /** The newest plan of each device. */
    PLAN("node", "device", "rollout");

    @SuppressWarnings("ImmutableEnumChecker") // List.of
    private final List<String> filters;

    Resource(String... filters) {
        this.filters = List.of(filters);
    }

    String path() {
        return name().toLowerCase(Locale.ROOT);
    }

    List<String> filters() {
        return filters;
    }
}
