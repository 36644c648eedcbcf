package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real launchers on a card that is cut: each rank sees one instance of its own, and is limited on that one. */
class MigRunIT {
    private static final Duration WITHIN = Duration.ofMinutes(2);

    private static final String SCRIPT =
            """
            import os, sys, time, ullage
            rank = ullage.connect()
            print("rank", rank.info.rank, "sees", os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
            while not os.path.exists(sys.argv[1]):
                time.sleep(0.05)
            """;

    private static final List<String> MPIRUN =
            List.of("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "3", Distribution.PYTHON);

    @TempDir
    private Path folder;

    private List<String> run(MigNode node, List<String> options, List<String> launcher) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Distribution.ullage(),
                "run",
                "--server",
                node.api().base(),
                "--token-file",
                node.stateDir().resolve("operator.token").toString(),
                "--job",
                "cut",
                "--require"));
        command.addAll(options);
        command.add("--");
        command.addAll(launcher);
        command.add(Files.writeString(folder.resolve("train.py"), SCRIPT).toString());
        command.add(folder.resolve("end").toString());
        return command;
    }

    @Test
    void torchrunRanksEachSeeTheInstanceThatTheQueueGaveThem() throws Exception {
        Requires.python("torch", Distribution.PYTHON, "python3-torch");
        Path file = Files.writeString(
                folder.resolve("job.conf"), "ranks = 2, memory-per-rank = \"100%\", mig = \"1g.*\"\n");
        try (MigNode node = new MigNode(folder, 3);
                TestProcess deepspeed = node.launch(
                        "deepspeed",
                        run(node, List.of("--job-file", file.toString()), List.of("deepspeed", "--num_gpus=2")));
                TestProcess job = node.launch(
                        "run", run(node, List.of("--wait", "--job-file", file.toString()), TorchRun.of(2)))) {
            assertThat(deepspeed.awaitExit(WITHIN)).as(deepspeed.log()).isEqualTo(6);
            assertThat(deepspeed.log()).contains("job.conf:1: mig: deepspeed counts the devices that CUDA shows");
            JsonNode status = awaitRanks(node, job, 2);
            JsonNode placed =
                    node.api().get("/api/v1/requests/cut").orElseThrow().path("ranks");
            for (JsonNode rank : placed) {
                assertThat(deviceOf(status, rank.path("rank").asInt()))
                        .isEqualTo(rank.path("device").asText());
            }
            end(job);
        }
    }

    @Test
    void mpirunRanksEachSeeAnInstanceWithoutTheQueueToo() throws Exception {
        Requires.command("mpirun", "openmpi-bin");
        try (MigNode node = new MigNode(folder, 3);
                TestProcess job = node.launch("run", run(node, List.of(), MPIRUN))) {
            awaitRanks(node, job, 3);
            end(job);
        }
    }

    private JsonNode awaitRanks(MigNode node, TestProcess job, int ranks) {
        JsonNode status = node.api().await("each rank is on an instance", WITHIN, now -> {
            if (!job.isAlive()) {
                throw new AssertionError("the job ended:\n" + job.log());
            }
            return Api.areSettled(now, ranks)
                    && Api.ranks(now).stream()
                            .allMatch(rank -> rank.path("connected").asBoolean());
        });
        Api.requireWithinBudget(status);
        for (int rank = 0; rank < ranks; rank++) {
            job.awaitOutput("rank %d sees %s".formatted(rank, deviceOf(status, rank)), WITHIN);
        }
        assertThat(Api.devices(status))
                .allSatisfy(device -> assertThat(device.path("ranks").size()).isLessThanOrEqualTo(1));
        return status;
    }

    /** By what the worker says, which holds the rank's grant there. */
    private static String deviceOf(JsonNode status, int number) {
        for (JsonNode device : Api.devices(status)) {
            for (JsonNode rank : device.path("ranks")) {
                if (rank.path("rank").asInt() == number) {
                    return device.path("uuid").asText();
                }
            }
        }
        throw new AssertionError("rank " + number + " is on no device: " + status);
    }

    private void end(TestProcess job) throws IOException {
        Files.createFile(folder.resolve("end"));
        assertThat(job.awaitExit(WITHIN)).as(job.log()).isZero();
    }
}
