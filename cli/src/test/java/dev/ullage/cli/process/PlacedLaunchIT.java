package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code ullage place} prints for two nodes, given to the launchers themselves. */
class PlacedLaunchIT {
    private static final Duration WITHIN = Duration.ofSeconds(90);
    private static final List<String> SIX =
            List.of("--ranks", "6", "--memory", "40GiB", "--policy", "pack", "--format");

    /** Debian's; streams are redirected because torch 1.13 on Python 3.11 cannot read its own default for that. */
    private static final String TORCHRUN =
            Distribution.PYTHON + " -m torch.distributed.run --redirects 1 --tee 1 --log_dir LOGS ";

    @TempDir
    private Path folder;

    private int commands;

    private String place(TestCluster cluster, String format) {
        List<String> command = new ArrayList<>(List.of(
                Distribution.ullage(),
                "place",
                "--server",
                cluster.coordinator(0).api().base()));
        command.addAll(SIX);
        command.add(format);
        try (TestProcess process = TestProcess.start(folder, "place-" + commands++, command, Map.of())) {
            assertThat(process.awaitExit(WITHIN)).as(process.log()).isZero();
            return process.log();
        }
    }

    private TestCluster twoNodes() {
        TestCluster cluster =
                new TestCluster(folder, "tcp", 1, 2, name -> "ullage.node.name = " + name.replace('w', 'n'));
        cluster.start();
        cluster.coordinator(0)
                .api()
                .await(
                        "eight devices are read",
                        WITHIN,
                        now -> Api.devices(now).stream()
                                        .filter(device ->
                                                device.path("ceilingBytes").isNumber()
                                                        && device.path("sampleState")
                                                                .asText()
                                                                .equals("fresh"))
                                        .count()
                                == 8);
        return cluster;
    }

    private Path program(String line) throws IOException {
        return Files.writeString(folder.resolve("program.sh"), "echo " + line + "\n");
    }

    private JsonNode ranks(TestCluster cluster) throws IOException {
        JsonNode ranks = new ObjectMapper().readTree(place(cluster, "json")).path("ranks");
        assertThat(ranks).hasSize(6);
        assertThat(ranks.findValuesAsText("node")).contains("n0", "n1");
        return ranks;
    }

    private TestProcess shell(String name, String line, Map<String, String> variables) {
        return TestProcess.start(folder, name, List.of("bash", "-c", line), variables);
    }

    @Test
    void srunStartsEachRankOnItsNodeWithItsDevice() throws IOException {
        Requires.command("srun", "slurm-wlm");
        Requires.command("slurmctld", "slurm-wlm");
        Requires.command("munged", "munge");
        Path program = program("rank $SLURM_PROCID on $SLURMD_NODENAME sees $CUDA_VISIBLE_DEVICES");
        try (TestCluster cluster = twoNodes();
                MiniSlurm slurm = MiniSlurm.start(Files.createDirectory(folder.resolve("slurm")))) {
            String text = place(cluster, "srun");
            List<String> hosts = text.lines()
                    .filter(line -> line.startsWith("# SLURM_HOSTFILE: "))
                    .map(line -> line.substring("# SLURM_HOSTFILE: ".length()))
                    .toList();
            Path hostfile = Files.write(folder.resolve("hosts"), hosts);
            String line = text.lines()
                    .filter(each -> each.startsWith("SLURM_HOSTFILE="))
                    .findFirst()
                    .orElseThrow()
                    .replace("HOSTFILE=HOSTFILE", "HOSTFILE=" + hostfile)
                    .replace("COMMAND", "sh " + program);

            try (TestProcess srun = shell("srun", line, slurm.variables())) {
                assertThat(srun.awaitExit(WITHIN)).as(srun.log()).isZero();
                for (JsonNode rank : ranks(cluster)) {
                    assertThat(srun.log())
                            .contains("rank %s on %s sees %s\n"
                                    .formatted(
                                            rank.path("rank").asText(),
                                            rank.path("node").asText(),
                                            rank.path("device").asText()));
                }
            }
        }
    }

    // Each line is for its node; here both run on this machine, and meet on it.
    @Test
    void torchrunOnEachNodeGivesEachRankItsNumberAndItsDevices() throws IOException {
        Requires.python("torch", Distribution.PYTHON, "python3-torch");
        Path program = program("rank $RANK of $WORLD_SIZE, local $LOCAL_RANK, sees $CUDA_VISIBLE_DEVICES");
        try (TestCluster cluster = twoNodes()) {
            int port = Ports.free();
            List<String> lines = place(cluster, "torchrun")
                    .lines()
                    .filter(line -> line.startsWith("CUDA_VISIBLE_DEVICES="))
                    .map(line -> line.replace("--master_addr=n0", "--master_addr=127.0.0.1")
                            .replace("--master_addr=n1", "--master_addr=127.0.0.1")
                            .replace("29500", Integer.toString(port))
                            .replace(
                                    "torchrun ",
                                    TORCHRUN.replace(
                                            "LOGS", folder.resolve("logs").toString()))
                            .replace("COMMAND", "--no_python sh " + program))
                    .toList();
            assertThat(lines).hasSize(2);

            try (TestProcess first = shell("torchrun-0", lines.get(0), Map.of());
                    TestProcess second = shell("torchrun-1", lines.get(1), Map.of())) {
                assertThat(first.awaitExit(WITHIN)).as(first.log()).isZero();
                assertThat(second.awaitExit(WITHIN)).as(second.log()).isZero();
                String said = first.log() + second.log();
                for (JsonNode rank : ranks(cluster)) {
                    String start = "rank %s of 6, local %s, sees ".formatted(rank.path("rank"), rank.path("localRank"));
                    String seen = said.lines()
                            .filter(line -> line.contains(start))
                            .findFirst()
                            .orElseThrow(() -> new AssertionError(said));
                    String devices = seen.substring(seen.indexOf(start) + start.length());
                    assertThat(devices.split(",")[rank.path("localRank").asInt()])
                            .isEqualTo(rank.path("device").asText());
                }
            }
        }
    }
}
