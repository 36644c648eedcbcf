package dev.ullage.cli.simulate;

import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvSchema;
import dev.ullage.coordinator.planning.balance.PolicyKind;
import dev.ullage.coordinator.simulation.Published;
import dev.ullage.coordinator.simulation.Workload;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The published table, which the program carries with it ({@code published.csv}; its README says where it is from).
 * Only for what was published: a file of the same name with other jobs, or other nodes, has no published figures.
 */
final class PublishedRows implements Published {
    private final Map<List<String>, Map<String, String>> rows = new LinkedHashMap<>();
    private final List<String> doubts = new ArrayList<>();

    private PublishedRows() {}

    static PublishedRows of(List<Workload> workloads) {
        PublishedRows published = new PublishedRows();
        for (Map<String, String> row : table("published.csv")) {
            published.rows.put(List.of(cell(row, "workload"), cell(row, "policy"), cell(row, "figure")), row);
        }
        Map<String, PublishedTrace> traces = new LinkedHashMap<>();
        table("published-traces.csv").forEach(row -> traces.put(cell(row, "workload"), PublishedTrace.of(row)));
        for (Workload workload : workloads) {
            String name = workload.name();
            boolean isNamed =
                    published.rows.keySet().stream().anyMatch(key -> key.get(0).equals(name));
            boolean isThat = traces.containsKey(name) && traces.get(name).isThatOf(workload);
            if (isNamed && !isThat) {
                published.rows.keySet().removeIf(key -> key.get(0).equals(name));
                published.doubts.add(
                        name + ": its jobs or nodes are not known to be those of the published trace of that"
                                + " name, so no published figures stand beside it");
            }
        }
        return published;
    }

    /** Where a name promises more than the data keeps, for people. */
    List<String> doubts() {
        return List.copyOf(doubts);
    }

    private static String cell(Map<String, String> row, String column) {
        return row.getOrDefault(column, "");
    }

    private static List<Map<String, String>> table(String name) {
        List<Map<String, String>> table = new ArrayList<>();
        try (InputStream in = PublishedRows.class.getResourceAsStream(name);
                MappingIterator<Map<String, String>> lines = new CsvMapper()
                        .readerForMapOf(String.class)
                        .with(CsvSchema.emptySchema().withHeader())
                        .readValues(in)) {
            while (lines.hasNextValue()) {
                table.add(lines.nextValue());
            }
            return table;
        } catch (IOException e) {
            throw new UncheckedIOException(name + " inside the program cannot be read", e);
        }
    }

    @Override
    public Optional<Double> mean(String workload, PolicyKind policy, Figure figure, int percent) {
        String name = figure.name().toLowerCase(Locale.ROOT).replace('_', '-');
        return Optional.ofNullable(rows.get(List.of(workload, policy.label(), name)))
                .map(row -> row.get("mean_" + percent))
                .map(Double::valueOf);
    }
}
