package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Nearest;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** Why the ranks of one job have the limits they have, from the status document. Pure. */
public final class JobExplanation {
    private static final String UNKNOWN = "not known";

    private JobExplanation() {}

    /** @return empty when the status has no rank of the job */
    public static Optional<String> render(JsonNode status, String job, Terminal terminal) {
        Map<String, String> labels = DeviceLabels.of(status);
        StringBuilder text = new StringBuilder();
        for (JsonNode node : status.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                String place = line(node, "node") + " device " + labels.get(line(device, "uuid"));
                appendDevice(text, device, job, place, terminal);
            }
        }
        return text.isEmpty()
                ? Optional.empty()
                : Optional.of(text.append(WishesText.ofJob(status, job))
                        .append(OomText.ofJob(status, job))
                        .append(EvennessText.ofJob(status, job))
                        .toString());
    }

    /** That no rank is of the job, which one may have been meant, and which jobs have ranks. */
    public static String unknown(JsonNode status, String job) {
        TreeSet<String> jobs = new TreeSet<>();
        status.path("nodes").forEach(node -> node.path("devices")
                .forEach(device -> device.path("ranks").forEach(rank -> jobs.add(line(rank, "job")))));
        return "no rank of job " + job + Nearest.suggestion(job, jobs) + "; known: "
                + (jobs.isEmpty() ? "none" : String.join(", ", jobs));
    }

    private static void appendDevice(StringBuilder text, JsonNode device, String job, String place, Terminal terminal) {
        int before = text.length();
        for (JsonNode rank : device.path("ranks")) {
            if (rank.path("job").asText().equals(job)) {
                appendRank(text, rank, place, terminal);
            }
        }
        if (text.length() > before && device.path("heldBack").isTextual()) {
            text.append("  ")
                    .append(Style.NOTICE.apply("held back: " + line(device, "heldBack"), terminal))
                    .append('\n');
        }
        if (text.length() > before && device.path("turns").isObject()) {
            appendTurns(text, device.path("turns"));
        }
        if (text.length() > before && device.path("rollout").isTextual()) {
            text.append("  the plan for this device is ")
                    .append(line(device, "rollout"))
                    .append('\n');
        }
    }

    private static void appendTurns(StringBuilder text, JsonNode turns) {
        text.append("  turns at a pool of ")
                .append(size(turns, "poolInForceBytes"))
                .append(", of which ")
                .append(size(turns, "outBytes"))
                .append(" is out");
        turns.path("holding").forEach(holder -> text.append("; ")
                .append(line(holder, "job"))
                .append(" holds the turn for ")
                .append(seconds(holder, "heldMillis")));
        turns.path("waiting").forEach(waiter -> text.append("; ")
                .append(line(waiter, "job"))
                .append('/')
                .append(line(waiter, "rank"))
                .append(" waits since ")
                .append(seconds(waiter, "waitedMillis")));
        if (turns.path("missed").asLong() > 0) {
            text.append("; ")
                    .append(Counts.of(turns.path("missed").asLong(), "wait"))
                    .append(" ended without a turn");
        }
        text.append('\n');
    }

    private static String seconds(JsonNode node, String field) {
        long tenths = node.path(field).asLong() / 100;
        return tenths / 10 + "." + tenths % 10 + " s";
    }

    private static void appendRank(StringBuilder text, JsonNode rank, String place, Terminal terminal) {
        String name = line(rank, "job") + "/" + line(rank, "rank");
        text.append(Style.HEADING.apply(name, terminal))
                .append(" on ")
                .append(place)
                .append("\n  limit ")
                .append(size(rank, "targetBytes"))
                .append(", may still believe ")
                .append(size(rank, "ceilingBytes"))
                .append(", holds ")
                .append(size(rank, "usedBytes"))
                .append(", enforced by ")
                .append(line(rank, "enforcedBy"))
                .append("\n  policy ")
                .append(line(rank, "policy"))
                .append(rank.path("priority").isTextual() ? ", priority " + line(rank, "priority") : "")
                .append(": ")
                .append(line(rank, "explanation"))
                .append('\n');
        text.append(NeedsTable.of(rank, terminal));
        JsonNode needs = rank.path("needsRestart");
        if (needs.isObject()) {
            text.append("  needs a restart for ")
                    .append(size(needs, "limitBytes"))
                    .append(", until then ")
                    .append(size(needs, "inForceBytes"))
                    .append(": ")
                    .append(line(needs, "reason"))
                    .append('\n');
        }
        appendEnforcement(text, rank.path("enforcement"), terminal);
        if (rank.path("refusals").asLong() > 0) {
            text.append("  its allocator was refused ")
                    .append(Counts.of(rank.path("refusals").asLong(), "time"))
                    .append(" because of the limit\n");
        }
    }

    /** Says nothing where a worker does not. */
    private static void appendEnforcement(StringBuilder text, JsonNode how, Terminal terminal) {
        if (how.path("overheadBytes").isIntegralNumber()) {
            text.append("  its process uses ")
                    .append(size(how, "processUsedBytes"))
                    .append(", beside its allocator ")
                    .append(size(how, "overheadBytes"))
                    .append(how.path("overheadProvisional").asBoolean() ? " (not measured yet)" : "")
                    .append("\n  which leaves its allocator ")
                    .append(size(how, "allocatorShareBytes"))
                    .append('\n');
        }
        if (how.path("inForceBytes").isIntegralNumber()) {
            text.append("  read back as in force: ")
                    .append(size(how, "inForceBytes"))
                    .append('\n');
        }
        for (JsonNode reason : how.path("whyNotHigher")) {
            text.append("  not by ")
                    .append(line(reason, "rung"))
                    .append(": ")
                    .append(line(reason, "reason"))
                    .append('\n');
        }
        if (how.path("overCeiling").asBoolean()) {
            text.append("  ")
                    .append(Style.NOTICE.apply("its processes use more than its ceiling", terminal))
                    .append('\n');
        }
    }

    private static String size(JsonNode node, String field) {
        JsonNode value = node.path(field);
        return value.isIntegralNumber()
                ? MemoryBytes.of(Math.max(0, value.longValue())).toString()
                : UNKNOWN;
    }

    /** A server's text fit for a terminal: one line, no control characters. */
    private static String line(JsonNode node, String field) {
        JsonNode value = node.path(field);
        return value.isMissingNode() || value.isNull()
                ? UNKNOWN
                : value.asText().replaceAll("\\p{Cntrl}", "?");
    }
}
