package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.show.TextTable.Cell;
import java.util.List;

/** The jobs, one line each. Pure. */
public final class JobsTable {
    private JobsTable() {}

    /** @param document has {@code jobs}: the items of {@code /api/v1/jobs} */
    public static String render(JsonNode document, Terminal terminal) {
        TextTable table = new TextTable()
                .shortenable("JOB", 16)
                .number("RANKS")
                .number("PROCESSES", 1)
                .number("NODES", 3)
                .number("DEVICES", 4)
                .number("USED")
                .number("TARGET", 2)
                .number("CEILING")
                .number("SKEW", 5)
                .text("TURN", 5);
        document.path("jobs")
                .forEach(job -> table.row(List.of(
                        Cell.of(StatusTable.text(job, "job")),
                        Cell.of(StatusTable.text(job, "rankCount")),
                        Cell.of(StatusTable.text(job, "processCount")),
                        Cell.of(Integer.toString(job.path("nodes").size())),
                        Cell.of(Integer.toString(job.path("devices").size())),
                        Cell.of(StatusTable.size(job, "usedBytes")),
                        Cell.of(StatusTable.size(job, "targetBytes")),
                        Cell.of(StatusTable.size(job, "ceilingBytes")),
                        Cell.of(skew(job)),
                        Cell.of(job.path("turn").asText("")))));
        return document.path("jobs").isEmpty() ? "no jobs\n" : table.render(terminal);
    }

    private static String skew(JsonNode job) {
        return job.path("skewPercent").isInt() ? job.path("skewPercent").intValue() + " %" : StatusTable.UNKNOWN;
    }
}
