package dev.ullage.cli.top;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The status, put together from the snapshots of {@code /api/v1/stream}: the first in full, then what changed. One
 * thread writes, another reads.
 */
final class TopModel {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final String UNANSWERED = "no coordinator answers; one may be about to take over";

    private ObjectNode rest = NODES.objectNode();
    /** By UUID. */
    private final NavigableMap<String, ObjectNode> devices = new TreeMap<>();

    private String note = "";

    /** One that knows a whole status already. */
    TopModel(JsonNode status) {
        rest = ((ObjectNode) status).deepCopy();
        for (JsonNode node : status.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                ObjectNode placed = ((ObjectNode) device).deepCopy();
                placed.set("node", node.path("node"));
                devices.put(device.path("uuid").asText(), placed);
            }
        }
    }

    synchronized void take(JsonNode snapshot) {
        if (snapshot.path("unanswered").asBoolean()) {
            note = UNANSWERED;
            return;
        }
        note = "";
        if (snapshot.path("full").asBoolean()) {
            devices.clear();
        }
        snapshot.path("devices")
                .forEach(device -> devices.put(device.path("uuid").asText(), ((ObjectNode) device).deepCopy()));
        snapshot.path("ages").properties().forEach(age -> {
            ObjectNode device = devices.get(age.getKey());
            if (device != null) {
                device.set("sampleAgeMillis", age.getValue());
            }
        });
        snapshot.path("gone").forEach(uuid -> devices.remove(uuid.asText()));
        rest = ((ObjectNode) snapshot).deepCopy().without(List.of("devices", "ages", "gone", "full"));
    }

    /** What stands between the screen and the cluster, until the next snapshot comes. */
    synchronized void trouble(String text) {
        note = text;
    }

    synchronized String note() {
        return note;
    }

    /** As {@code /api/v1/status} has it. */
    synchronized JsonNode status() {
        ObjectNode status = rest.deepCopy();
        ArrayNode nodes = NODES.arrayNode();
        for (JsonNode node : rest.path("nodes")) {
            ObjectNode whole = nodes.addObject();
            whole.set("node", node.path("node"));
            whole.set("ageMillis", node.path("ageMillis"));
            if (node.has("draining")) {
                whole.set("draining", node.path("draining"));
            }
            ArrayNode own = whole.putArray("devices");
            devices.values().stream()
                    .filter(device -> device.path("node").equals(node.path("node")))
                    .map(ObjectNode::deepCopy)
                    .forEach(own::add);
        }
        status.set("nodes", nodes);
        return status;
    }
}
