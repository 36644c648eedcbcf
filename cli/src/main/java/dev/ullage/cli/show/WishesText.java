package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.util.ArrayList;
import java.util.List;

/** What operators asked for and the workers keep, from the status document. Pure. */
final class WishesText {
    private WishesText() {}

    /** A heading and a line for each; nothing when nobody asked for anything. */
    static String section(JsonNode status, Terminal terminal) {
        List<String> lines = new ArrayList<>();
        for (JsonNode drain : status.path("operator").path("draining")) {
            lines.add("node " + line(drain, "node") + " is draining since " + line(drain, "since")
                    + (drain.path("by").isTextual() ? ", by " + line(drain, "by") : "")
                    + (drain.path("reason").isTextual() ? ": " + line(drain, "reason") : ""));
        }
        for (JsonNode job : status.path("operator").path("jobs")) {
            lines.add("job " + line(job, "job") + ": " + String.join(", ", ofJob(job)));
        }
        return lines.isEmpty()
                ? ""
                : "\n" + Style.HEADING.apply("SET BY OPERATORS", terminal) + "\n" + String.join("\n", lines) + "\n";
    }

    /** A line about one job; nothing when nobody asked for anything. */
    static String ofJob(JsonNode status, String name) {
        for (JsonNode job : status.path("operator").path("jobs")) {
            if (job.path("job").asText().equals(name)) {
                return "set by operators: " + String.join(", ", ofJob(job)) + "\n";
            }
        }
        return "";
    }

    /** Whether nothing new is to be placed on a node. */
    static boolean isDraining(JsonNode node) {
        return node.path("draining").asBoolean(false);
    }

    private static List<String> ofJob(JsonNode job) {
        List<String> parts = new ArrayList<>();
        if (job.path("policy").isTextual()) {
            parts.add("policy " + line(job, "policy"));
        }
        if (job.path("priority").isTextual()) {
            parts.add("priority " + line(job, "priority"));
        }
        addShare(job, "share", parts);
        for (JsonNode rank : job.path("ranks")) {
            String name = "of rank " + line(rank, "rank");
            addShare(rank, "share " + name, parts);
            if (rank.path("limitBytes").isIntegralNumber()) {
                parts.add("limit " + name + " "
                        + MemoryBytes.of(Math.max(0, rank.path("limitBytes").longValue())));
            }
        }
        return parts;
    }

    private static void addShare(JsonNode json, String what, List<String> parts) {
        int points = json.path("shareBasisPoints").asInt(-1);
        if (points >= 0 && points <= Share.ONE_IN_BASIS_POINTS) {
            parts.add(what + " " + new Share(points));
        }
    }

    private static String line(JsonNode node, String field) {
        return node.path(field).asText().replaceAll("\\p{Cntrl}", "?");
    }
}
