package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;

/** What was done about jobs that ran out of memory, from the status document. Pure. */
final class OomText {
    private OomText() {}

    /** A section of its own; nothing when there is nothing to say. */
    static String section(JsonNode status, Terminal terminal) {
        if (status.path("oomMoves").isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder("\n")
                .append(Style.HEADING.apply("OUT OF MEMORY", terminal))
                .append('\n');
        status.path("oomMoves").forEach(move -> text.append(StatusTable.text(move, "job"))
                .append("  ")
                .append(line(move))
                .append('\n'));
        return text.toString();
    }

    /** The moves of one job, a line each. */
    static String ofJob(JsonNode status, String job) {
        StringBuilder text = new StringBuilder();
        for (JsonNode move : status.path("oomMoves")) {
            if (move.path("job").asText().equals(job)) {
                text.append("out of memory, move ").append(line(move)).append('\n');
            }
        }
        return text.toString();
    }

    private static String line(JsonNode move) {
        return StatusTable.text(move, "sequence") + " at step " + StatusTable.text(move, "step") + ", "
                + StatusTable.age(move, "ageMillis") + " ago: " + StatusTable.text(move, "level") + " "
                + StatusTable.text(move, "state") + ": " + StatusTable.text(move, "reason");
    }
}
