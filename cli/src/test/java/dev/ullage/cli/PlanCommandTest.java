package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.show.Terminal;
import dev.ullage.common.model.MemoryBytes;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ullage plan} as a script meets it. */
class PlanCommandTest {
    private static final JsonMapper MAPPER = new JsonMapper();

    private final Path folder;

    PlanCommandTest(@TempDir Path folder) {
        this.folder = folder;
    }

    private record Outcome(int code, String out, String err) {}

    private Outcome run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        List<String> all = new ArrayList<>(List.of("plan"));
        all.addAll(List.of(arguments));
        int code = UllageMain.commandLine(new CliEnvironment(
                        Map.of("HOME", folder.toString()), new PrintWriter(out), new PrintWriter(err), Terminal.NONE))
                .execute(all.toArray(new String[0]));
        return new Outcome(code, out.toString(), err.toString());
    }

    private List<Long> mebibytes(String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add("--json");
        Outcome outcome = run(all.toArray(new String[0]));
        assertThat(outcome.err()).isEmpty();
        List<Long> limits = new ArrayList<>();
        for (JsonNode device : MAPPER.readTree(outcome.out()).path("devices")) {
            device.path("ranks").forEach(rank -> limits.add(rank.path("limit").longValue() / MemoryBytes.MEBIBYTE));
        }
        return limits;
    }

    @Test
    void aWorldOfEightOnOneDevice() throws IOException {
        assertThat(mebibytes("--device", "12288MiB", "--size", "8", "--policy", "world-share", "--reserve", "20%"))
                .hasSize(8)
                .containsOnly(1228L);
    }

    @Test
    void prioritiesOfOneModel() throws IOException {
        assertThat(mebibytes(
                        "--device=80GiB",
                        "--policy=priority-pool",
                        "--model-size=4096MiB",
                        "--priority=high",
                        "--priority=medium",
                        "--priority=low"))
                .containsExactly(8192L, 6144L, 4915L);
    }

    @Test
    void twoRanksWithoutAReserve() throws IOException {
        assertThat(mebibytes("--device", "23604690944", "--ranks-per-device", "2", "--reserve", "0"))
                .containsExactly(11_255L, 11_255L);
    }

    @Test
    void ranksAreSpreadEvenlyAndTheFirstDevicesHaveOneMore() throws IOException {
        assertThat(mebibytes("--device", "10GiB", "--device", "10GiB", "--size", "3"))
                .containsExactly(4096L, 4096L, 8192L);
    }

    @Test
    void theTableExplainsEveryLine() {
        Outcome outcome = run("--device", "12288MiB", "--size", "8", "--ranks-per-device", "1", "--policy=world-share");

        assertThat(outcome)
                .isEqualTo(new Outcome(
                        0,
                        """
                        policy world-share, reserve 20%, 1 rank on 1 device, 7 more elsewhere

                        DEVICE        RANK  PRIORITY     LIMIT       BYTES  WHY
                        0 (12.0 GiB)     0  medium    1228 MiB  1288490188  12.0 GiB less reserve 20% over a world of 8 is 1.2 GiB
                        """,
                        ""));
    }

    @Test
    void theJsonHasASchemaAndBytes() {
        String expected =
                "{'schema':1,'policy':'rank-share','reserveBasisPoints':2000,'size':1,'usable':true,'devices':["
                        + "{'index':0,'allocatable':10737418240,'budget':8589934592,'ranks':["
                        + "{'rank':0,'priority':'medium','limit':8589934592,'limits':{'INIT':8589934592,"
                        + "'FORWARD':8589934592,'BACKWARD':8589934592,'OPTIMIZER':8589934592,"
                        + "'EVALUATION':8589934592,'CHECKPOINT':8589934592,'IDLE':8589934592},"
                        + "'explanation':'10.0 GiB less reserve 20% over 1 rank is 8.0 GiB'}]}]}\n";

        assertThat(run("--device", "10GiB", "--json").out()).isEqualTo(expected.replace('\'', '"'));
    }

    @Test
    void aFileHoldsAllOfItAndFlagsGoBeforeIt() throws IOException {
        Path file = Files.writeString(
                folder.resolve("plan.conf"),
                """
                plan { devices = [80GiB, 40GiB], priorities = [high, low] }
                ullage.limits { policy = priority-pool, policies.priority-pool.model-size = 4096MiB }
                """);

        assertThat(mebibytes("--file", file.toString())).containsExactly(8192L, 4915L);
        assertThat(mebibytes("--file", file.toString(), "--policy", "growth", "--reserve", "50%"))
                .containsExactly(40 * 1024L, 20 * 1024L);
    }

    @Test
    void hybridLooksAtTheStep() throws IOException {
        assertThat(mebibytes("--device=10GiB", "--policy=hybrid", "--reserve=0"))
                .containsExactly(10_240L);
        assertThat(mebibytes("--device=10GiB", "--policy=hybrid", "--reserve=0", "--step=1000"))
                .containsExactly(8_192L);
    }

    @Test
    void aPhaseBelowTheMinimumIsEnoughForNoSuccess() throws IOException {
        Path file = Files.writeString(folder.resolve("idle.conf"), "ullage.limits.phases.idle = 0.1%");

        Outcome outcome = run("--device", "10GiB", "--file", file.toString());

        assertThat(outcome.code()).isEqualTo(1);
        assertThat(outcome.out()).contains("; 8.2 MiB in IDLE is less than the minimum of 64.0 MiB");
    }

    @Test
    void everythingThatIsWrongIsSaidAtOnce() {
        Outcome outcome = run(
                "--device", "12QiB", "--size", "x", "--policy", "fair", "--reserve", "120%", "--priority", "urgent");

        assertThat(outcome.code()).isEqualTo(4);
        assertThat(outcome.err())
                .startsWith("ullage: 5 problems in the settings:\n")
                .contains(
                        "plan.devices = 12QiB",
                        "(command line --device)",
                        "plan.size = x must be a whole number",
                        "must be one of: rank-share, world-share, fixed, growth, priority-pool, hybrid, observed, planned"
                                + " (command line --policy)",
                        "must be one of: high, medium, low (command line --priority)",
                        "(command line --reserve)");
    }

    @Test
    void aPlanWithoutDevicesOrWithPrioritiesForOthersIsRefused() {
        assertThat(run("--size", "8").err()).contains("plan.devices = [] must name 1 to 1024 devices");
        assertThat(run("--device=1GiB", "--size=3", "--priority=high", "--priority=low")
                        .err())
                .contains("must be one for all 3 ranks on the devices, or 3, not 2");
        assertThat(run("--sizes", "8").code()).isEqualTo(2);
    }

    @Test
    void limitsBelowTheMinimumAreSaidAndNoSuccess() {
        Outcome outcome = run("--device", "1GiB", "--size", "100");

        assertThat(outcome.code()).isEqualTo(1);
        assertThat(outcome.out()).contains("; 8.2 MiB in INIT is less than the minimum of 64.0 MiB: no such plan");
    }

    private String estimate(String more) throws IOException {
        return Files.writeString(
                        folder.resolve("estimate.json"),
                        "{\"model\": \"llama3.1-8b\", \"tp\": 2, \"pp\": 2, \"sequence\": 4096, \"micro-batch\": 1,"
                                + " \"global-batch\": 8, \"attention\": \"flash\", \"framework\": \"megatron\"" + more
                                + "}")
                .toString();
    }

    // No cluster runs: the job's estimate and the devices are enough.
    @Test
    void ranksOfAnEstimateHaveLimitsByStageAndPhase() throws IOException {
        Outcome outcome = run(
                "--estimate",
                estimate(", \"recompute\": \"none\""),
                "--device=80GiB",
                "--device=80GiB",
                "--device=80GiB",
                "--device=80GiB",
                "--json");

        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.code()).isZero();
        JsonNode plan = MAPPER.readTree(outcome.out());
        assertThat(plan.path("policy").asText()).isEqualTo("planned");
        assertThat(plan.path("size").asInt()).isEqualTo(4);
        List<JsonNode> ranks = new ArrayList<>();
        plan.path("devices").forEach(device -> device.path("ranks").forEach(ranks::add));
        assertThat(ranks).hasSize(4);
        assertThat(ranks.get(0).path("limit")).isEqualTo(ranks.get(1).path("limit"));
        assertThat(ranks.get(0).path("limit")).isNotEqualTo(ranks.get(2).path("limit"));
        for (JsonNode rank : ranks) {
            assertThat(rank.path("limits").path("INIT").asLong())
                    .isLessThan(rank.path("limits").path("FORWARD").asLong());
            assertThat(rank.path("limits").path("BACKWARD").asLong())
                    .isEqualTo(rank.path("limit").asLong());
        }
        assertThat(run("--estimate", estimate(""), "--device=80GiB,80GiB,80GiB,80GiB")
                        .out())
                .contains("IN INIT", "IN BACKWARD", "stage 1 of 2, estimated at");
    }

    @Test
    void anEstimateThatDoesNotFitOrIsOfAnotherSizeIsNoSuccess() throws IOException {
        Outcome small = run("--estimate", estimate(", \"recompute\": \"none\""), "--device=24GiB,24GiB,24GiB,24GiB");
        assertThat(small.code()).isEqualTo(1);
        assertThat(small.out()).contains("19.2 GiB is less than the", "it may need: no such job is started");

        Outcome other = run("--estimate", estimate(""), "--device=80GiB", "--size=8");
        assertThat(other.code()).isEqualTo(4);
        assertThat(other.err()).contains("--size 8, but the estimate is of 4 ranks");
        assertThat(run("--estimate", estimate(""), "--device=80GiB").err())
                .contains("estimate: recompute is not given: none is taken");
    }
}
