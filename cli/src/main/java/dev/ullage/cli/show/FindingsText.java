package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;

/** The document of {@code ullage doctor} as lines: what was looked at, how it is, and what to do. Pure. */
public final class FindingsText {
    private static final int NAME_WIDTH = 17;

    private FindingsText() {}

    public static String render(JsonNode document, Terminal terminal) {
        StringBuilder text = new StringBuilder();
        for (JsonNode finding : document.path("checks")) {
            String result = finding.path("result").asText();
            String name = StatusTable.clean(finding.path("check").asText());
            text.append(style(result).apply(result, terminal))
                    .append("  ")
                    .append(name)
                    .append(" ".repeat(Math.max(1, NAME_WIDTH - name.length())))
                    .append(StatusTable.clean(finding.path("text").asText()))
                    .append('\n');
            if (finding.path("remedy").isTextual()) {
                text.append(" ".repeat("pass  ".length() + NAME_WIDTH))
                        .append("-> ")
                        .append(StatusTable.clean(finding.path("remedy").asText()))
                        .append('\n');
            }
        }
        return text.toString();
    }

    private static Style style(String result) {
        return switch (result) {
            case "pass" -> Style.GOOD;
            case "warn" -> Style.NOTICE;
            default -> Style.ALARM;
        };
    }
}
