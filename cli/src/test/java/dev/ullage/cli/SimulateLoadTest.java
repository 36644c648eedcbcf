package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.show.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ullage simulate --load} as a script meets it. */
class SimulateLoadTest {
    private final Path folder;

    SimulateLoadTest(@TempDir Path folder) {
        this.folder = folder;
    }

    private record Outcome(int code, String out, String err) {}

    private Outcome run(String... more) throws IOException {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Path nodes = Files.write(
                folder.resolve("nodes.csv"),
                List.of("sn,cpu_milli,memory_mib,gpu,model", "n1,64000,262144,4,T4", "n2,64000,262144,4,T4"));
        List<String> arguments =
                new ArrayList<>(List.of("simulate", "--nodes", nodes.toString(), "--pods", jobs().toString()));
        arguments.addAll(List.of(more));
        int code = UllageMain.commandLine(new CliEnvironment(
                        Map.of("HOME", "/"), new PrintWriter(out), new PrintWriter(err), Terminal.NONE))
                .execute(arguments.toArray(new String[0]));
        return new Outcome(code, out.toString(), err.toString());
    }

    private Path jobs() throws IOException {
        List<String> lines = new ArrayList<>(
                List.of("name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time"));
        for (int i = 0; i < 20; i++) {
            lines.add(
                    "j%d,1000,1024,1,%d,%s,0,%d,5".formatted(i, 200 + 20 * i, i % 2 == 0 ? "LS" : "BE", 605 + 60 * i));
        }
        lines.add("pending,1000,1024,1,500,LS,0,1000,");
        return Files.write(folder.resolve("jobs.csv"), lines);
    }

    @Test
    void theModesAreToldApartAndNothingIsLost() throws IOException {
        Outcome outcome = run("--load=1.2", "--longest=4", "--seeds=2", "--policy=best-fit", "--json");

        assertThat(outcome.err()).contains("6 of 6 runs (100 %)");
        assertThat(outcome.code()).isZero();
        JsonNode root = new JsonMapper().readTree(outcome.out());
        assertThat(root.path("longestHours").intValue()).isEqualTo(4);
        List<JsonNode> results = new ArrayList<>();
        root.path("results").forEach(results::add);
        assertThat(results)
                .extracting(result -> result.path("mode").textValue())
                .containsExactly("static", "shares", "turns");
        assertThat(results)
                .extracting(result -> result.path("usedPercent").path("mean").doubleValue())
                .isSorted()
                .doesNotHaveDuplicates();
        assertThat(results)
                .extracting(result ->
                        -result.path("waitSeconds").path("mean").path("mean").doubleValue())
                .isSorted()
                .doesNotHaveDuplicates();
        assertThat(results)
                .allSatisfy(
                        result -> assertThat(result.path("workLost").intValue()).isZero());
    }

    @Test
    void forPeopleItIsATableAndTheSameSeedGivesTheSame() throws IOException {
        Outcome outcome = run("--load=0.9,1.1", "--longest=2", "--seeds=1");

        assertThat(outcome.out()).contains("no work is lost").contains("HIGH AT ONCE %");
        assertThat(outcome.out().lines()).hasSize(8);
        assertThat(run("--load=0.9,1.1", "--longest=2", "--seeds=1").out()).isEqualTo(outcome.out());
    }

    @Test
    void allThatIsWrongIsSaidAtOnce() throws IOException {
        Outcome outcome = run("--load=0", "--mode=shared", "--longest=0", "--persistent=101");

        assertThat(outcome.code()).isEqualTo(ExitCode.USAGE.code());
        assertThat(Stream.of("--load must be", "--mode must be of", "--longest must be", "--persistent must be"))
                .allSatisfy(text -> assertThat(outcome.err()).contains(text));
        assertThat(run("--mode=turns").err()).contains("only with --load");
        assertThat(run("--load=1", "--policy=fill,fgd").err()).contains("--policy must be one");
    }

    @Test
    void aTraceWithoutTimesIsRefused() throws IOException {
        Path plain = Files.write(
                folder.resolve("plain.csv"), List.of("name,cpu_milli,memory_mib,num_gpu,gpu_milli", "a,1,1,1,1"));
        Outcome outcome = run("--load=1", "--pods", plain.toString());

        assertThat(outcome.code()).isEqualTo(ExitCode.BAD_SETTINGS.code());
        assertThat(outcome.err()).contains("plain: no job with devices has both scheduled_time and deletion_time");
    }
}
