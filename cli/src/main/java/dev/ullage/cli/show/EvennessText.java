package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What is used unevenly, and what would even it out, from the status document. Pure. */
final class EvennessText {
    private EvennessText() {}

    /** A section of its own; nothing when all is even. */
    static String section(JsonNode status, Map<String, String> devices, Terminal terminal) {
        JsonNode evenness = status.path("evenness");
        List<String> lines = new ArrayList<>();
        for (JsonNode job : evenness.path("jobs")) {
            if (job.path("uneven").asBoolean() || job.path("proposal").isObject()) {
                lines.add(StatusTable.text(job, "job") + "  " + skew(job) + "; " + shares(job, evenness));
            }
        }
        for (JsonNode device : evenness.path("devices")) {
            lines.add(StatusTable.text(device, "node") + " device "
                    + devices.getOrDefault(StatusTable.text(device, "device"), StatusTable.UNKNOWN)
                    + "  at " + percent(device, "fillBasisPoints") + ", the mean of all devices is "
                    + percent(device, "meanBasisPoints"));
        }
        evenness.path("moves").forEach(move -> lines.add("suggestion: " + StatusTable.text(move, "text")));
        if (lines.isEmpty()) {
            return "";
        }
        return "\n" + Style.HEADING.apply("UNEVEN", terminal) + "\n" + String.join("\n", lines) + "\n";
    }

    /** The lines about one job: what of it is known, and why there are or are not other shares. */
    static String ofJob(JsonNode status, String job) {
        StringBuilder text = new StringBuilder();
        for (JsonNode known : status.path("evenness").path("jobs")) {
            if (known.path("job").asText().equals(job)) {
                text.append("evenness: ")
                        .append(skew(known))
                        .append("; ")
                        .append(shares(known, status.path("evenness")))
                        .append('\n');
            }
        }
        for (JsonNode move : status.path("evenness").path("moves")) {
            if (move.path("job").asText().equals(job)) {
                text.append("suggestion: ")
                        .append(StatusTable.text(move, "text"))
                        .append('\n');
            }
        }
        return text.toString();
    }

    private static String skew(JsonNode job) {
        List<String> phases = new ArrayList<>();
        job.path("skew")
                .forEach(skew -> phases.add("%s %s %% (rank %s)"
                        .formatted(
                                StatusTable.text(skew, "phase"),
                                StatusTable.text(skew, "percent"),
                                StatusTable.text(skew, "rank"))));
        return phases.isEmpty() ? "skew not known" : "largest peak by median " + String.join(", ", phases);
    }

    private static String shares(JsonNode job, JsonNode evenness) {
        String prefix = job.path("proposal").isObject()
                        && !evenness.path("mode").asText().equals("on")
                ? "suggestion, nothing is sent: "
                : "";
        return prefix + StatusTable.text(job, "explanation");
    }

    private static String percent(JsonNode json, String field) {
        return json.path(field).asInt() / 100 + " %";
    }
}
