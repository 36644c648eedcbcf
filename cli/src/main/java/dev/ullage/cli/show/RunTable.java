package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.show.TextTable.Cell;
import dev.ullage.common.model.MemoryBytes;
import java.util.List;

/** What {@code ullage run} says at the end, as a table: one line for each process of the job. Pure. */
public final class RunTable {
    private static final String UNKNOWN = "-";

    private RunTable() {}

    public static String render(JsonNode summary, Terminal terminal) {
        TextTable table = new TextTable()
                .number("RANK")
                .shortenable("NODE", 8)
                .number("GPU")
                .number("PID", 1)
                .number("LIMIT")
                .number("PEAK")
                .number("REFUSALS")
                .number("CHANGES", 2)
                .text("ENFORCED BY", 3);
        for (JsonNode rank : summary.path("ranks")) {
            table.row(List.of(
                    cell(rank, "rank"),
                    cell(rank, "node"),
                    cell(rank, "deviceIndex"),
                    cell(rank, "pid"),
                    size(rank, "limitBytes"),
                    size(rank, "peakReservedBytes"),
                    cell(rank, "refusals"),
                    cell(rank, "limitChanges"),
                    cell(rank, "enforcedBy")));
        }
        return table.render(terminal);
    }

    private static Cell cell(JsonNode json, String field) {
        JsonNode value = json.path(field);
        return Cell.of(
                value.isMissingNode() || value.isNull()
                        ? UNKNOWN
                        : value.asText().replaceAll("\\p{Cntrl}", "?"));
    }

    private static Cell size(JsonNode json, String field) {
        JsonNode value = json.path(field);
        return Cell.of(
                value.isIntegralNumber()
                        ? MemoryBytes.of(Math.max(0, value.longValue())).toString()
                        : UNKNOWN);
    }
}
