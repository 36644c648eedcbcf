package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;

/** Events as lines: when, which, what kind, what happened. Pure. */
public final class EventText {
    private EventText() {}

    /** @param events as the API has them; a line each, in their order */
    public static String render(JsonNode events, Terminal terminal) {
        StringBuilder text = new StringBuilder();
        for (JsonNode event : events) {
            Style style = event.path("severity").asText().equals("info") ? Style.PLAIN : Style.NOTICE;
            String kind = "%-18s".formatted(oneLine(event.path("kind")));
            text.append("%-24s  %-6s  ".formatted(oneLine(event.path("time")), oneLine(event.path("id"))))
                    .append(style.apply(kind, terminal))
                    .append("  ")
                    .append(oneLine(event.path("text")))
                    .append('\n');
        }
        return text.toString();
    }

    /** Whatever it holds stays one line, and moves no cursor. */
    private static String oneLine(JsonNode value) {
        return value.asText().replaceAll("\\p{Cntrl}", "?");
    }
}
