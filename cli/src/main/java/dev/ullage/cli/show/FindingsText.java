package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;

/** The document of {@code ullage doctor} as lines: what was looked at, how it is, and what to do. Pure. */
public final class FindingsText {
    private static final int NAME_WIDTH = 17;
    private static final int INDENT = "pass  ".length() + NAME_WIDTH;
    private static final String ARROW = "-> ";
    /** Beside the names a narrower terminal has no room for sentences. */
    private static final int MIN_WIDTH = 20;

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
                    .append(wrapped(StatusTable.clean(finding.path("text").asText()), INDENT, terminal))
                    .append('\n');
            if (finding.path("remedy").isTextual()) {
                text.append(" ".repeat(INDENT))
                        .append(ARROW)
                        .append(wrapped(
                                StatusTable.clean(finding.path("remedy").asText()), INDENT + ARROW.length(), terminal))
                        .append('\n');
            }
        }
        return text.toString();
    }

    /** Further lines begin where the first does; a word that is longer than a line is left whole. */
    private static String wrapped(String sentence, int indent, Terminal terminal) {
        int width = Math.max(MIN_WIDTH, terminal.width() - indent);
        StringBuilder text = new StringBuilder();
        int column = 0;
        for (String word : sentence.split(" ", -1)) {
            int length = TextWidth.of(word);
            if (column > 0 && column + 1 + length > width) {
                text.append('\n').append(" ".repeat(indent));
                column = 0;
            } else if (column > 0) {
                text.append(' ');
                column++;
            }
            text.append(word);
            column += length;
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
