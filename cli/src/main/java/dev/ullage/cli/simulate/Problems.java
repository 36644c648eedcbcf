package dev.ullage.cli.simulate;

import dev.ullage.common.model.Counts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What is wrong in the files of a trace: all of it, so that one look is enough, and no more than fits a screen. */
final class Problems {
    private static final int MAX_SHOWN = 20;
    private static final int MAX_VALUE = 60;

    private final List<String> shown = new ArrayList<>();
    private int count;

    /**
     * @param line in the file, from 1
     * @param column its heading
     * @param value as it stands there
     */
    void add(Path file, long line, String column, String value, String rule) {
        add("%s:%d: %s \"%s\": %s".formatted(file, line, column, shown(value), rule));
    }

    /** What stands in a file must not steer a terminal, nor fill it. */
    static String shown(String value) {
        String clean = value.replaceAll("[\\p{Cntrl}\\p{Cf}]", "?");
        return clean.length() <= MAX_VALUE ? clean : clean.substring(0, MAX_VALUE) + "...";
    }

    void add(String problem) {
        count++;
        if (shown.size() < MAX_SHOWN) {
            shown.add(problem);
        }
    }

    int count() {
        return count;
    }

    boolean isEmpty() {
        return count == 0;
    }

    String text() {
        StringBuilder text = new StringBuilder("the trace cannot be used: " + Counts.of(count, "problem"));
        shown.forEach(problem -> text.append("\n  ").append(problem));
        if (count > shown.size()) {
            text.append("\n  and %d more".formatted(count - shown.size()));
        }
        return text.toString();
    }
}
