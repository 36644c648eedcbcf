package dev.ullage.coordinator.http;

import dev.ullage.common.model.DeviceId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which part of which device's last minutes somebody wants, read strictly.
 *
 * @param device there unless the query has problems
 */
record HistoryFilter(Optional<DeviceId> device, ResourceQuery query) {
    private static final String DEVICE = "device";

    static HistoryFilter parse(List<Map.Entry<String, String>> parameters) {
        ResourceQuery query = ResourceQuery.parse(List.of(DEVICE), parameters);
        List<String> problems = new ArrayList<>(query.problems());
        Optional<DeviceId> device = Optional.empty();
        String name = query.filters().get(DEVICE);
        if (name == null) {
            problems.add("device must be set: the UUID of one device");
        } else {
            try {
                device = Optional.of(new DeviceId(name));
            } catch (IllegalArgumentException e) {
                problems.add("device: " + e.getMessage());
            }
        }
        return new HistoryFilter(
                device, new ResourceQuery(query.offset(), query.limit(), query.filters(), List.copyOf(problems)));
    }
}
