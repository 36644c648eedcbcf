package dev.ullage.coordinator.http;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Which decisions somebody wants, read strictly. */
record DecisionFilter(Optional<DeviceId> device, Optional<JobId> job, ResourceQuery query) {

    static DecisionFilter parse(List<Map.Entry<String, String>> parameters) {
        ResourceQuery query = ResourceQuery.parse(List.of("device", "job"), parameters);
        List<String> problems = new ArrayList<>(query.problems());
        Optional<DeviceId> device = name("device", query.filters().get("device"), DeviceId::new, problems);
        Optional<JobId> job = name("job", query.filters().get("job"), JobId::new, problems);
        return new DecisionFilter(
                device, job, new ResourceQuery(query.offset(), query.limit(), query.filters(), problems));
    }

    private static <T> Optional<T> name(
            String field, @Nullable String text, Function<String, T> type, List<String> problems) {
        if (text == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(type.apply(text));
        } catch (IllegalArgumentException e) {
            problems.add(field + ": " + e.getMessage());
            return Optional.empty();
        }
    }
}
