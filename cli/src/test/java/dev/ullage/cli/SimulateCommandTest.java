package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.show.Terminal;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ullage simulate} as a script meets it. */
class SimulateCommandTest {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final String NODE_HEADINGS = "sn,cpu_milli,memory_mib,gpu,model";
    private static final String JOB_HEADINGS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli";

    private final Path folder;

    SimulateCommandTest(@TempDir Path folder) {
        this.folder = folder;
    }

    private record Outcome(int code, String out, String err) {}

    private static Outcome run(Object... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        List<String> all = new ArrayList<>(List.of("simulate"));
        for (Object argument : arguments) {
            all.add(argument.toString());
        }
        int code = UllageMain.commandLine(new CliEnvironment(
                        Map.of("HOME", "/"), new PrintWriter(out), new PrintWriter(err), Terminal.NONE))
                .execute(all.toArray(new String[0]));
        return new Outcome(code, out.toString(), err.toString());
    }

    private Path file(String name, String... lines) throws IOException {
        return Files.write(folder.resolve(name), List.of(lines));
    }

    private Path resource(String name) throws IOException {
        Path copy = folder.resolve(name);
        try (InputStream in = SimulateCommandTest.class.getResourceAsStream("/openb/" + name)) {
            assertThat(in).isNotNull();
            Files.copy(in, copy);
        }
        return copy;
    }

    private Path nodes() throws IOException {
        return file("nodes.csv", NODE_HEADINGS, "n1,64000,262144,8,T4", "n2,64000,262144,8,T4", "n3,32000,65536,0,");
    }

    private Path jobs() throws IOException {
        List<String> lines = new ArrayList<>(List.of(JOB_HEADINGS));
        IntStream.range(0, 40).forEach(i -> lines.add("j%d,1000,1024,1,%d".formatted(i, 100 + 20 * i)));
        lines.add("large,8000,8192,4,1000");
        return file("jobs.csv", lines.toArray(new String[0]));
    }

    private static JsonNode figures(JsonNode result, int percent) {
        for (JsonNode at : result.path("at")) {
            if (at.path("askedPercent").intValue() == percent) {
                return at;
            }
        }
        throw new AssertionError("no figures at " + percent + " % in " + result);
    }

    // The one whole trace among the tests: what the policies are to reach on it, at one seed.
    @Test
    void onThePublishedTraceTheBaselinesAreAsPublishedAndFillIsAboveThem() throws IOException {
        Outcome outcome = run(
                "--nodes",
                resource("openb_node_list_gpu_node.csv.gz"),
                "--pods",
                resource("openb_pod_list_default.csv.gz"),
                "--policy=fill,fgd,best-fit,random",
                "--seeds=1",
                "--json");

        assertThat(outcome.code()).isZero();
        JsonNode root = MAPPER.readTree(outcome.out());
        assertThat(root.path("schema").intValue()).isEqualTo(1);
        double publishedFgd = 0;
        for (JsonNode result : root.path("results")) {
            JsonNode end = figures(result, 130);
            double allocated = end.path("allocated").path("mean").doubleValue();
            if (result.path("policy").textValue().equals("fill")) {
                assertThat(allocated).isGreaterThanOrEqualTo(95.9);
                assertThat(figures(result, 100).path("allocated").path("mean").doubleValue())
                        .isGreaterThan(95.3);
            } else {
                double published = end.path("publishedAllocated").doubleValue();
                publishedFgd = Math.max(published, publishedFgd);
                assertThat(allocated).as(result.toString()).isBetween(published - 1, published + 1);
            }
        }
        assertThat(publishedFgd).isEqualTo(95.391);
        assertThat(outcome.err()).contains("4 of 4 runs (100 %)");
    }

    @Test
    void theSameSeedGivesTheSameResultOnHoweverManyThreads() throws IOException {
        Object[] arguments = {"--nodes", nodes(), "--pods", jobs(), "--seeds=3", "--json"};

        Outcome first = run(arguments);

        assertThat(first.code()).isZero();
        assertThat(run(arguments).out()).isEqualTo(first.out());
    }

    @Test
    void aTableAndAChartForEachPolicyAndFile() throws Exception {
        Path chart = folder.resolve("chart.svg");
        Path more = file("more & more.csv", JOB_HEADINGS, "a,100,100,1,500", "b,100,100,2,1000");

        Outcome outcome = run("--nodes", nodes(), "--pods", jobs(), more, "--seeds=2", "--chart", chart);

        assertThat(outcome.code()).isZero();
        assertThat(outcome.out().lines().filter(line -> line.startsWith("more & more")))
                .hasSize(12);
        assertThat(outcome.out()).contains("fill", "fgd", "best-fit", "pack", "spread", "random", "FIRST REFUSAL");
        assertThat(DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(chart.toFile())
                        .getElementsByTagName("polyline")
                        .getLength())
                .isEqualTo(12);
        assertThat(folder).isDirectoryNotContaining("glob:**.part");
        assertThat(Files.getPosixFilePermissions(chart))
                .as("as of any other new file")
                .isEqualTo(Files.getPosixFilePermissions(more));
    }

    @Test
    void everythingThatIsWrongIsSaidAtOnceWithItsPlaceAndNothingIsDone() throws IOException {
        Path nodes = file("nodes.csv", NODE_HEADINGS, "n1,64000,262144,8,", "n1,-1,1.5,2,T4", "n2,1000,1000,2,T4");
        Path jobs = file(
                "jobs.csv",
                JOB_HEADINGS + ",gpu_spec,qos,creation_time,deletion_time",
                "a,1000,1000,1,1001,,LS,0,1",
                "b,1000,1000,0,500,T4,LS,0,1",
                "c,1000,1000,1,500,T4|H900,LS,0,1",
                "d,1000,1000,1,500,,XX,10,5",
                "e,1000");
        Path chart = folder.resolve("chart.svg");

        Outcome outcome = run("--nodes", nodes, "--pods", jobs, "--chart", chart);

        assertThat(outcome.code()).isEqualTo(ExitCode.BAD_SETTINGS.code());
        assertThat(outcome.out()).isEmpty();
        assertThat(chart).doesNotExist();
        assertThat(outcome.err())
                .contains(
                        "nodes.csv:2: model \"\": must be named exactly where there are devices",
                        "nodes.csv:3: sn \"n1\": stands there twice",
                        "nodes.csv:3: cpu_milli \"-1\": must be a whole number from 0 to 10000000",
                        "nodes.csv:3: memory_mib \"1.5\": must be a whole number from 0 to 1073741824",
                        "jobs.csv:2: gpu_milli \"1001\": must be a whole number from 0 to 1000",
                        "jobs.csv:3: gpu_milli \"500\": must be 0 exactly where num_gpu is, which is 0",
                        "jobs.csv:4: gpu_spec \"T4|H900\": no node has the model \"H900\"; there are [T4]",
                        "jobs.csv:5: qos \"XX\": must be one of [BE, Burstable, Guaranteed, LS]",
                        "jobs.csv:5: deletion_time \"5\": must not be before creation_time, which is 10",
                        "jobs.csv:6: line \"e,1000\": must have 9 cells and has 2");
    }

    @Test
    void headingsThatAreMissingOrUnknownAreNamed() throws IOException {
        Path jobs = file("jobs.csv", "name,cpu_milli,memory,num_gpu,gpu_milli", "a,1,1,1,1");

        assertThat(run("--nodes", nodes(), "--pods", jobs, folder.resolve("none.csv"))
                        .err())
                .contains(
                        "3 problems",
                        "jobs.csv:1: heading \"memory_mib\": is missing",
                        "jobs.csv:1: heading \"memory\": is not known",
                        "none.csv: cannot be read: there is no such file");
    }

    @Test
    void noMoreProblemsThanFitAScreen() throws IOException {
        List<String> lines = new ArrayList<>(List.of(JOB_HEADINGS));
        IntStream.range(0, 500).forEach(i -> lines.add("j%d,-1,1,1,1".formatted(i)));

        Outcome outcome = run("--nodes", nodes(), "--pods", file("jobs.csv", lines.toArray(new String[0])));

        assertThat(outcome.err()).contains("500 problems").contains("and 480 more");
        assertThat(outcome.err().lines()).hasSize(22);
    }

    @Test
    void anUnknownPolicyIsAMatterOfUsage() throws IOException {
        Outcome outcome = run("--nodes", nodes(), "--pods", jobs(), "--policy=best");

        assertThat(outcome.code()).isEqualTo(ExitCode.USAGE.code());
        assertThat(outcome.err()).contains("no placement policy \"best\"; there are fill, fill-offline, fgd, best-fit");
    }
}
