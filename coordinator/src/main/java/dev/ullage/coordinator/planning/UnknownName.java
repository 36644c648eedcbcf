package dev.ullage.coordinator.planning;

import dev.ullage.common.model.Nearest;
import java.util.Collection;
import java.util.List;

/** What to say of a name that nothing has: what it may have been meant to be, and what there is. Pure. */
public final class UnknownName {
    private static final int MAX_NAMED = 20;

    private UnknownName() {}

    /**
     * As in {@code no job bart (did you mean bert?); known: bert}.
     *
     * @param kind in front of the name
     * @param known of the same kind, each with its name as text
     */
    public static String text(String kind, String name, Collection<?> known) {
        List<String> names = known.stream().map(Object::toString).toList();
        String more = names.size() > MAX_NAMED ? " and " + (names.size() - MAX_NAMED) + " more" : "";
        return "no %s %s%s; known: %s"
                .formatted(
                        kind,
                        name,
                        Nearest.suggestion(name, names),
                        names.isEmpty()
                                ? "none"
                                : String.join(", ", names.subList(0, Math.min(MAX_NAMED, names.size()))) + more);
    }
}
