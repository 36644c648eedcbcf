package dev.ullage.cli.simulate;

import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvSchema;
import dev.ullage.coordinator.planning.balance.PolicyKind;
import dev.ullage.coordinator.simulation.Published;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The published table, which the program carries with it ({@code published.csv}; its README says where it is from). */
final class PublishedRows implements Published {
    private final Map<List<String>, Map<String, String>> rows = new LinkedHashMap<>();

    private PublishedRows() {}

    static PublishedRows read() {
        PublishedRows read = new PublishedRows();
        try (InputStream in = PublishedRows.class.getResourceAsStream("published.csv");
                MappingIterator<Map<String, String>> lines = new CsvMapper()
                        .readerForMapOf(String.class)
                        .with(CsvSchema.emptySchema().withHeader())
                        .readValues(in)) {
            while (lines.hasNextValue()) {
                Map<String, String> row = lines.nextValue();
                read.rows.put(
                        List.of(
                                row.getOrDefault("workload", ""),
                                row.getOrDefault("policy", ""),
                                row.getOrDefault("figure", "")),
                        row);
            }
            return read;
        } catch (IOException e) {
            throw new UncheckedIOException("the published table inside the program cannot be read", e);
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
