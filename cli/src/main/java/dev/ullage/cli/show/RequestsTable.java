package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.show.TextTable.Cell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The jobs that asked for room. Pure. */
public final class RequestsTable {
    private static final int MAX_NODES = 3;
    /** So many are told in full where the table has no room for it: the others wait for these first. */
    private static final int MAX_TOLD = 5;

    private RequestsTable() {}

    /** @param document has {@code requests}: the items of {@code /api/v1/requests}; without any, nothing is shown */
    public static String render(JsonNode document, Terminal terminal) {
        JsonNode requests = document.path("requests");
        if (requests.isEmpty()) {
            return "";
        }
        TextTable table = table(requests, true);
        if (table.width() <= terminal.width()) {
            return table.render(terminal) + "\n";
        }
        StringBuilder text = new StringBuilder(table(requests, false).render(terminal));
        int told = 0;
        for (JsonNode request : requests) {
            if (request.path("waitsFor").isTextual() && told++ < MAX_TOLD) {
                text.append("%s waits for %s\n"
                        .formatted(StatusTable.text(request, "job"), StatusTable.text(request, "waitsFor")));
            }
        }
        return text + "\n";
    }

    /** @param isWhole with what each waits for, which is a sentence */
    private static TextTable table(JsonNode requests, boolean isWhole) {
        TextTable table = new TextTable()
                .number("POSITION")
                .shortenable("JOB", 16)
                .text("STATE")
                .text("PRIORITY", 2)
                .number("AGE", 3)
                .number("STARTS IN")
                .sentence("WANTS", 20)
                .sentence(isWhole ? "WAITS FOR, OR IS ON" : "IS ON", 16);
        requests.forEach(request -> table.row(List.of(
                Cell.of(StatusTable.text(request, "position")),
                Cell.of(StatusTable.text(request, "job")),
                Cell.of(StatusTable.text(request, "state")),
                Cell.of(StatusTable.text(request, "priority")),
                Cell.of(duration(request, "waitedMillis")),
                Cell.of(duration(request, "startsInMillis")),
                Cell.of(StatusTable.text(request, "wants")),
                Cell.of(
                        isWhole && request.path("waitsFor").isTextual()
                                ? StatusTable.text(request, "waitsFor")
                                : where(request)))));
        return table;
    }

    private static String where(JsonNode request) {
        Set<String> nodes = new LinkedHashSet<>();
        request.path("ranks").forEach(rank -> nodes.add(StatusTable.text(rank, "node")));
        if (nodes.isEmpty()) {
            return "-";
        }
        List<String> named = new ArrayList<>(nodes).subList(0, Math.min(MAX_NODES, nodes.size()));
        return String.join(", ", named)
                + (nodes.size() > MAX_NODES ? " and " + (nodes.size() - MAX_NODES) + " more" : "");
    }

    private static String duration(JsonNode request, String field) {
        JsonNode millis = request.path(field);
        return millis.isIntegralNumber() ? text(Duration.ofMillis(millis.longValue())) : "-";
    }

    /** As people say it, in its two largest units: {@code 2h 5m}. */
    public static String text(Duration duration) {
        long seconds = duration.toSeconds();
        if (seconds < 60) {
            return seconds + "s";
        }
        if (seconds < 3_600) {
            return seconds / 60 + "m " + seconds % 60 + "s";
        }
        return seconds < 86_400
                ? seconds / 3_600 + "h " + seconds % 3_600 / 60 + "m"
                : seconds / 86_400 + "d " + seconds % 86_400 / 3_600 + "h";
    }
}
