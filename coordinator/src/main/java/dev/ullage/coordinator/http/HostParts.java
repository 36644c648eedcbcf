package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collections;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * What the hosts of nodes have, as it goes to those who watch. Available memory is never quite the same: that it
 * changed is said in steps of a 128th of the host's memory, else every look would send every host. Pure; immutable.
 *
 * @param shown by node, as in the status
 * @param stepped the same with available memory in steps: what is compared
 */
record HostParts(NavigableMap<String, JsonNode> shown, NavigableMap<String, JsonNode> stepped) {
    static final HostParts NONE = new HostParts(new TreeMap<>(), new TreeMap<>());

    private static final String AVAILABLE = "availableBytes";
    private static final int STEPS = 128;

    HostParts {
        shown = Collections.unmodifiableNavigableMap(new TreeMap<>(shown));
        stepped = Collections.unmodifiableNavigableMap(new TreeMap<>(stepped));
    }

    /** @param nodes of the status */
    static HostParts of(JsonNode nodes) {
        NavigableMap<String, JsonNode> shown = new TreeMap<>();
        NavigableMap<String, JsonNode> stepped = new TreeMap<>();
        for (JsonNode node : nodes) {
            JsonNode host = node.path("host").isObject() ? node.get("host") : NullNode.instance;
            shown.put(node.path("node").asText(), host);
            stepped.put(node.path("node").asText(), stepped(host));
        }
        return new HostParts(shown, stepped);
    }

    private static JsonNode stepped(JsonNode host) {
        if (!(host instanceof ObjectNode object) || !host.path(AVAILABLE).isIntegralNumber()) {
            return host;
        }
        long step = Math.max(1, host.path("memoryBytes").asLong(0) / STEPS);
        return object.deepCopy().put(AVAILABLE, host.path(AVAILABLE).longValue() / step);
    }

    /** By node, what somebody lacks who knows {@code before}; null of a node that does not say what its host has. */
    ObjectNode since(HostParts before) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        shown.forEach((node, host) -> {
            JsonNode now = stepped.get(node);
            if (now == null || !now.equals(before.stepped.get(node))) {
                json.set(node, host);
            }
        });
        return json;
    }
}
