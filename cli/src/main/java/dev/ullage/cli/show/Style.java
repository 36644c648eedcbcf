package dev.ullage.cli.show;

/** Emphasis; only where a terminal can show it, and never the only sign of anything. */
enum Style {
    PLAIN(""),
    HEADING("1"),
    GOOD("32"),
    NOTICE("33"),
    ALARM("31;1");

    private final String code;

    Style(String code) {
        this.code = code;
    }

    String apply(String text, Terminal terminal) {
        return code.isEmpty() || text.isEmpty() || !terminal.hasColours()
                ? text
                : "\u001b[" + code + "m" + text + "\u001b[0m";
    }
}
