package dev.ullage.cli.simulate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.RuntimeJsonMappingException;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvParser;
import dev.ullage.cli.FileReason;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPInputStream;

/** A file of comma-separated values with headings, plain or gzipped; what does not fit its headings is a problem. */
final class CsvTable {
    private static final CsvMapper MAPPER =
            CsvMapper.builder().enable(CsvParser.Feature.WRAP_AS_ARRAY).build();

    private final List<Row> rows;
    private final List<String> headings;

    private CsvTable(List<String> headings, List<Row> rows) {
        this.headings = headings;
        this.rows = rows;
    }

    /** One line of the file with its cells by heading. */
    record Row(Path file, long line, Map<String, String> cells, Problems problems) {

        String text(String column) {
            return cells.getOrDefault(column, "");
        }

        /** A whole number within bounds; anything else is a problem and empty. */
        Optional<Long> number(String column, long min, long max) {
            String text = text(column);
            if (text.matches("-?\\d{1,18}")) {
                long value = Long.parseLong(text);
                if (value >= min && value <= max) {
                    return Optional.of(value);
                }
            }
            bad(column, "must be a whole number from %d to %d".formatted(min, max));
            return Optional.empty();
        }

        void bad(String column, String rule) {
            problems.add(file, line, column, text(column), rule);
        }
    }

    /**
     * @param required headings that must be there
     * @param optional headings that may be; any other is a problem
     */
    static CsvTable read(Path file, List<String> required, List<String> optional, Problems problems) {
        try (InputStream in = open(file);
                MappingIterator<String[]> lines =
                        MAPPER.readerFor(String[].class).readValues(in)) {
            if (!lines.hasNextValue()) {
                problems.add("%s: is empty, and must start with the headings %s".formatted(file, required));
                return new CsvTable(List.of(), List.of());
            }
            List<String> headings = List.of(lines.nextValue());
            if (!checkHeadings(file, headings, required, optional, problems)) {
                return new CsvTable(headings, List.of());
            }
            return new CsvTable(headings, rows(file, lines, headings, problems));
        } catch (IOException | RuntimeJsonMappingException e) {
            problems.add("%s: cannot be read: %s".formatted(file, reason(e)));
            return new CsvTable(List.of(), List.of());
        }
    }

    private static String reason(Exception e) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String text = root instanceof JsonProcessingException parsing
                ? parsing.getOriginalMessage()
                : root instanceof IOException failed ? FileReason.of(failed) : root.getMessage();
        return text == null
                ? root.getClass().getSimpleName()
                : Problems.shown(text.lines().findFirst().orElse(""));
    }

    private static InputStream open(Path file) throws IOException {
        InputStream in = Files.newInputStream(file);
        return file.toString().endsWith(".gz") ? new GZIPInputStream(in) : in;
    }

    private static boolean checkHeadings(
            Path file, List<String> headings, List<String> required, List<String> optional, Problems problems) {
        int before = problems.count();
        for (String heading : required) {
            if (!headings.contains(heading)) {
                problems.add(file, 1, "heading", heading, "is missing");
            }
        }
        for (int i = 0; i < headings.size(); i++) {
            String heading = headings.get(i);
            if (!required.contains(heading) && !optional.contains(heading)) {
                problems.add(
                        file, 1, "heading", heading, "is not known; known are %s and %s".formatted(required, optional));
            } else if (headings.indexOf(heading) < i) {
                problems.add(file, 1, "heading", heading, "stands there twice");
            }
        }
        return problems.count() == before;
    }

    private static List<Row> rows(Path file, MappingIterator<String[]> lines, List<String> headings, Problems problems)
            throws IOException {
        List<Row> rows = new ArrayList<>();
        long next = 2 + breaks(headings);
        for (Optional<String[]> row = row(lines, next); row.isPresent(); row = row(lines, next)) {
            String[] cells = row.get();
            long line = next;
            next += 1 + breaks(List.of(cells));
            Map<String, String> byHeading = new LinkedHashMap<>();
            if (cells.length != headings.size()) {
                problems.add(
                        file,
                        line,
                        "line",
                        String.join(",", cells),
                        "must have %d cells and has %d".formatted(headings.size(), cells.length));
            }
            for (int i = 0; i < Math.min(cells.length, headings.size()); i++) {
                byHeading.put(headings.get(i), cells[i].strip());
            }
            rows.add(new Row(file, line, byHeading, problems));
        }
        return rows;
    }

    /** A quoted cell may have several lines. */
    private static long breaks(List<String> cells) {
        return cells.stream()
                .flatMapToInt(String::chars)
                .filter(character -> character == '\n')
                .count();
    }

    private static Optional<String[]> row(MappingIterator<String[]> lines, long line) throws IOException {
        try {
            return lines.hasNextValue() ? Optional.of(lines.nextValue()) : Optional.empty();
        } catch (IOException | RuntimeJsonMappingException e) {
            throw new IOException("line %d: %s".formatted(line, reason(e)));
        }
    }

    List<Row> rows() {
        return rows;
    }

    boolean has(String heading) {
        return headings.contains(heading);
    }
}
