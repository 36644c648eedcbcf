package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.show.TextTable.Cell;
import java.util.List;
import java.util.Locale;
import java.util.stream.StreamSupport;

/** The document of {@code ullage predict} as a table. Pure. */
public final class PredictTable {
    private PredictTable() {}

    public static String render(JsonNode document, Terminal terminal) {
        TextTable table = new TextTable()
                .text("PREDICTOR")
                .number("HORIZON", 3)
                .text("SERIES", 5)
                .number("STEPS", 1)
                .number("UNDER %")
                .number("ROOM %")
                .number("OF SUMS %", 4)
                .number("P99 SHORT")
                .number("RMSE", 6)
                .number("MAE", 2)
                .number("ACCURACY %", 2);
        boolean isSplit = StreamSupport.stream(document.path("results").spliterator(), false)
                .anyMatch(result -> StatusTable.text(result, "part").equals("checked"));
        for (JsonNode result : document.path("results")) {
            // The figures of all would only blur those of the two parts.
            if (!isSplit || !StatusTable.text(result, "part").equals("all")) {
                table.row(List.of(
                        Cell.of(StatusTable.text(result, "predictor")),
                        Cell.of(StatusTable.text(result, "horizon")),
                        Cell.of("%s %s"
                                .formatted(StatusTable.text(result, "series"), StatusTable.text(result, "part"))),
                        Cell.of(StatusTable.text(result, "steps")),
                        number(result, "underPercent", 2),
                        number(result, "roomPercent", 1),
                        number(result, "roomOfSumsPercent", 1),
                        number(result, "p99ShortfallGib", 2),
                        number(result, "rmseGib", 3),
                        number(result, "maeGib", 3),
                        number(result, "accuracyPercent", 1)));
            }
        }
        return table.render(terminal);
    }

    private static Cell number(JsonNode result, String field, int digits) {
        JsonNode value = result.path(field);
        return Cell.of(value.isNumber() ? String.format(Locale.ROOT, "%." + digits + "f", value.doubleValue()) : "-");
    }
}
