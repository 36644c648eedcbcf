package dev.ullage.cli.predict;

import dev.ullage.common.model.Counts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What is wrong with a file of series: all of it, as far as a person can read it. */
final class SeriesProblems {
    private static final int SHOWN = 20;

    private final Path file;
    private final List<String> shown = new ArrayList<>();
    private int count;

    SeriesProblems(Path file) {
        this.file = file;
    }

    void add(int line, String column, String value, String rule) {
        add(line, "%s: '%s' %s".formatted(column, value, rule));
    }

    void add(int line, String problem) {
        count++;
        if (shown.size() < SHOWN) {
            shown.add("%s:%d: %s".formatted(file, line, problem));
        }
    }

    boolean isEmpty() {
        return count == 0;
    }

    @Override
    public String toString() {
        String more = count > shown.size() ? "\n  and %d more".formatted(count - shown.size()) : "";
        return shown.stream()
                .collect(Collectors.joining("\n  ", count == 1 ? "" : Counts.of(count, "problem") + "\n  ", more));
    }
}
