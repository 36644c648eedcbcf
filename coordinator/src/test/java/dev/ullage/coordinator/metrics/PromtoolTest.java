package dev.ullage.coordinator.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.OomLevel;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.testing.Requires;
import dev.ullage.coordinator.http.Statuses;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What Prometheus' own tool says of the pages and of the alert rules. */
class PromtoolTest {
    private static final Path NOTHING = Path.of("/dev/null");
    private static final Duration END_WITHIN = Duration.ofMinutes(1);

    @TempDir
    private Path folder;

    private record Answer(int exitCode, String text) {}

    @BeforeEach
    void needsPromtool() {
        Requires.command("promtool", "prometheus");
    }

    static Stream<ClusterStatus> clusters() {
        return Stream.of(
                Statuses.active(Statuses.deviceWithARank()),
                Statuses.empty(),
                Statuses.withMoves(
                        Statuses.empty(),
                        Statuses.move("bert", 1, OomLevel.MICRO_BATCH, "REPLACED", 35),
                        Statuses.move("bert", 2, OomLevel.STOP, "ORDERED", -1)),
                Statuses.active(Statuses.silentDevice()),
                Statuses.active(Statuses.deviceWithASilentRank()),
                Clusters.withJobs(OddNames.all().toArray(String[]::new)),
                Clusters.withJobs("a\ud800", "a\udbff"),
                Clusters.onNodes(20));
    }

    @ParameterizedTest
    @MethodSource("clusters")
    void noClusterMakesAPageThatPromtoolFindsFaultWith(ClusterStatus status) throws Exception {
        Answer answer = checkMetrics(new MetricsPage(false).render(status, Duration.ofMillis(3)));

        assertThat(answer).isEqualTo(new Answer(0, ""));
    }

    @Test
    void nobodyMakesNoSuchPageEither() throws Exception {
        assertThat(checkMetrics(new MetricsPage(false).renderNobody())).isEqualTo(new Answer(0, ""));
    }

    // Goal: the other exporter's names break no rule but those of style, which are not ours to mend.
    @Test
    void ofTheOtherExportersNamesOnlyTheStyleIsFoundFaultWith() throws Exception {
        Answer answer = checkMetrics(
                new MetricsPage(true).render(Clusters.withJobs(OddNames.all().toArray(String[]::new)), Duration.ZERO));

        assertThat(answer.text().lines()).isNotEmpty().allSatisfy(line -> assertThat(line)
                .matches("DCGM_\\w+ (metric|label) names should be written in .*"));
    }

    @Test
    void theAlertRulesAreRules() throws Exception {
        Answer answer = promtool(NOTHING, "check", "rules", alerts().toString());

        assertThat(answer.exitCode()).as(answer.text()).isZero();
        assertThat(answer.text()).containsPattern("SUCCESS: [1-9]\\d* rules found");
    }

    @Test
    void theAlertRulesFireWhenTheyShouldAndOnlyThen() throws Exception {
        Path tests = folder.resolve("alerts-test.yml");
        Files.writeString(
                tests,
                Files.readString(root().resolve("coordinator/src/test/resources/alerts-test.yml"))
                        .replace("RULES", alerts().toString()));

        Answer answer = promtool(NOTHING, "test", "rules", tests.toString());

        assertThat(answer.exitCode()).as(answer.text()).isZero();
    }

    private Answer checkMetrics(byte[] page) throws Exception {
        Page.parse(new String(page, StandardCharsets.UTF_8));
        return promtool(Files.write(folder.resolve("metrics.txt"), page), "check", "metrics");
    }

    private Answer promtool(Path input, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("promtool"));
        command.addAll(List.of(arguments));
        Path output = folder.resolve("output.txt");
        Process process = new ProcessBuilder(command)
                .redirectInput(input.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = process.waitFor(END_WITHIN.toSeconds(), TimeUnit.SECONDS);
        process.destroyForcibly();
        assertThat(ended).as("promtool ended in time").isTrue();
        return new Answer(process.exitValue(), Files.readString(output));
    }

    private static Path alerts() {
        return root().resolve("docs/alerts.yml");
    }

    private static Path root() {
        return Path.of(System.getProperty("ullage.root", ".."));
    }
}
