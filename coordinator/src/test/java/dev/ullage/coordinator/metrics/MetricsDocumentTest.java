package dev.ullage.coordinator.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.common.model.OomLevel;
import dev.ullage.coordinator.http.Statuses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** docs/metrics.md, the alert rules and the dashboard name the metrics that exist, and no others. */
class MetricsDocumentTest {
    private static final Pattern NAME = Pattern.compile("\\bullage_[a-z_]+");

    @Test
    void theDocumentHasOneRowForEachMetricAndSaysWhatItsHelpSays() throws IOException {
        List<String> rows = Files.readAllLines(docs("metrics.md")).stream()
                .filter(line -> line.startsWith("| `"))
                .toList();

        assertThat(rows)
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(Metric.values())
                        .map(MetricsDocumentTest::row)
                        .toList());
    }

    // Goal: no metric is listed that no page ever has. Method: a device of which everything is known.
    @Test
    void aFullPageHasEveryMetricThatIsListed() {
        Page page = Page.of(
                Statuses.withMoves(
                        Statuses.active(Statuses.deviceWithARank()),
                        Statuses.move("bert", 1, OomLevel.MICRO_BATCH, "DONE", 35)),
                new MetricsPage(true));

        assertThat(page.names())
                .containsExactlyInAnyOrderElementsOf(
                        Arrays.stream(Metric.values()).map(Metric::exposedName).toList());
    }

    @Test
    void theAlertRulesReadMetricsThatExist() throws IOException {
        String expressions = Files.readAllLines(docs("alerts.yml")).stream()
                .filter(line -> line.strip().startsWith("expr:"))
                .collect(Collectors.joining("\n"));

        assertThat(namesIn(expressions)).hasSizeGreaterThan(4).isSubsetOf(exposed());
    }

    @Test
    void theDashboardReadsMetricsThatExist() throws IOException {
        JsonNode board = new JsonMapper().readTree(docs("grafana/ullage.json").toFile());
        List<String> expressions = new ArrayList<>(board.findValuesAsText("expr"));
        expressions.addAll(board.findValuesAsText("definition"));

        assertThat(board.path("panels")).isNotEmpty();
        assertThat(namesIn(String.join("\n", expressions)))
                .hasSizeGreaterThan(15)
                .isSubsetOf(exposed());
    }

    private static String row(Metric metric) {
        return "| `%s` | %s | %s | %s |"
                .formatted(
                        metric.exposedName(),
                        metric.kind().type,
                        metric.labels().stream().map(label -> "`" + label + "`").collect(Collectors.joining(", ")),
                        metric.help());
    }

    private static Set<String> exposed() {
        Set<String> names = new TreeSet<>();
        for (Metric metric : Metric.values()) {
            names.add(metric.exposedName());
            if (metric.kind() == Metric.Kind.HISTOGRAM) {
                List.of("_bucket", "_sum", "_count").forEach(ending -> names.add(metric.baseName() + ending));
            }
        }
        return names;
    }

    private static Set<String> namesIn(String text) {
        Set<String> names = new TreeSet<>();
        Matcher name = NAME.matcher(text);
        while (name.find()) {
            names.add(name.group());
        }
        return names;
    }

    private static Path docs(String name) {
        return Path.of(System.getProperty("ullage.root", "..")).resolve("docs").resolve(name);
    }
}
