package dev.ullage.cli.estimate;

import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvSchema;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Comma-separated tables with a line of headings. */
final class Tables {
    private static final CsvMapper MAPPER = new CsvMapper();

    private Tables() {}

    /** Every row by its column names; an empty cell is left out. */
    static List<Map<String, String>> read(InputStream in) throws IOException {
        List<Map<String, String>> rows = new ArrayList<>();
        try (MappingIterator<Map<String, String>> all = MAPPER.readerForMapOf(String.class)
                .with(CsvSchema.emptySchema().withHeader())
                .readValues(in)) {
            while (all.hasNextValue()) {
                Map<String, String> row = new LinkedHashMap<>();
                all.nextValue().forEach((column, cell) -> putIfNotEmpty(row, column, cell));
                rows.add(row);
            }
        }
        return rows;
    }

    private static void putIfNotEmpty(Map<String, String> row, String column, String cell) {
        if (!cell.isBlank()) {
            row.put(column.strip(), cell.strip());
        }
    }

    /** The shapes that Ullage knows by name. */
    static Map<String, Map<String, String>> knownModels() throws IOException {
        try (InputStream in = Optional.ofNullable(Tables.class.getResourceAsStream("known-models.csv"))
                .orElseThrow(() -> new IOException("known-models.csv is not on the class path"))) {
            Map<String, Map<String, String>> models = new TreeMap<>();
            for (Map<String, String> row : read(in)) {
                Map<String, String> shape = new LinkedHashMap<>(row);
                models.put(shape.remove("name"), shape);
            }
            return models;
        }
    }
}
