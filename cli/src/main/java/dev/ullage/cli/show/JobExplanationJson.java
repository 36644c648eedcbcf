package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;

/** {@link JobExplanation} for scripts: what the status says of each rank of a job, and nothing of the others. Pure. */
public final class JobExplanationJson {
    /** Raised when a script that read the last one could not read this one. */
    private static final int SCHEMA = 1;

    /** Of a rank, as in the status. */
    private static final List<String> FIELDS = List.of(
            "rank",
            "pid",
            "step",
            "policy",
            "explanation",
            "limitsBytes",
            "targetBytes",
            "ceilingBytes",
            "usedBytes",
            "settled",
            "enforcedBy",
            "refusals",
            "needsRestart");

    private JobExplanationJson() {}

    /** @return one line; empty when the status has no rank of the job */
    public static Optional<String> of(JsonNode status, String job) {
        ObjectNode root =
                JsonNodeFactory.instance.objectNode().put("schema", SCHEMA).put("job", job);
        ArrayNode ranks = root.putArray("ranks");
        status.path("nodes").forEach(node -> node.path("devices").forEach(device -> add(ranks, node, device, job)));
        return ranks.isEmpty() ? Optional.empty() : Optional.of(root.toString());
    }

    private static void add(ArrayNode ranks, JsonNode node, JsonNode device, String job) {
        for (JsonNode rank : device.path("ranks")) {
            if (rank.path("job").asText().equals(job)) {
                ranks.add(rank(node, device, rank));
            }
        }
    }

    private static ObjectNode rank(JsonNode node, JsonNode device, JsonNode rank) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.set("node", copy(node.path("node")));
        json.set("device", copy(device.path("uuid")));
        FIELDS.forEach(field -> json.set(field, copy(rank.path(field))));
        json.set("heldBack", copy(device.path("heldBack")));
        json.set("needs", needs(rank));
        return json;
    }

    /** With what is in force in each phase; null without an estimate. */
    private static JsonNode needs(JsonNode rank) {
        JsonNode needs = copy(rank.path("needs"));
        for (JsonNode phase : needs.path("phases")) {
            if (phase instanceof ObjectNode object) {
                object.set(
                        "inForceBytes",
                        copy(NeedsTable.inForce(rank, object.path("phase").asText())));
            }
        }
        return needs;
    }

    private static JsonNode copy(JsonNode value) {
        return value.isMissingNode() ? JsonNodeFactory.instance.nullNode() : value.deepCopy();
    }
}
