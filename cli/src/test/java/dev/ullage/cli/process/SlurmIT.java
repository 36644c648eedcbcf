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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ranks under Slurm's own srun: as what they register, how they end, and what gets through to them. */
class SlurmIT {
    private static final Duration WITHIN = Duration.ofMinutes(2);

    private static final String SCRIPT =
            """
            import signal, sys, time, ullage
            rank = ullage.connect()
            caught = []
            signal.signal(signal.SIGUSR1, lambda number, frame: caught.append(number))
            while not caught:
                with rank.phase("forward"):
                    time.sleep(0.05)
                rank.step_done()
            print("rank", rank.info.rank, "caught", caught, flush=True)
            sys.exit(5 if rank.info.rank == 1 else 0)
            """;

    @TempDir
    private Path folder;

    @BeforeEach
    void requireSlurm() {
        Requires.command("srun", "slurm-wlm");
        Requires.command("slurmctld", "slurm-wlm");
        Requires.command("munged", "munge");
    }

    private List<String> run(UpNode node, String... srun) {
        List<String> command = new ArrayList<>(
                List.of(Distribution.ullage(), "run", "--server", node.api().base(), "--require", "--"));
        command.addAll(List.of(srun));
        return command;
    }

    // srun passes SIGUSR1 on to its tasks, as Slurm's own --signal=USR1 does; its exit code is the highest of them.
    @Test
    void tasksOfOneNodeAreRanksOnADeviceEach() throws IOException {
        Path script = Files.writeString(folder.resolve("train.py"), SCRIPT);
        try (MiniSlurm slurm = MiniSlurm.start(Files.createDirectory(folder.resolve("slurm")));
                UpNode node = UpNode.start(folder, "4xH100-80G");
                TestProcess job = node.launch(
                        "srun",
                        run(node, "srun", "-N1", "-n4", Distribution.PYTHON, script.toString()),
                        slurm.variables())) {
            JsonNode status = node.api().await("four ranks train", WITHIN, now -> {
                if (!job.isAlive()) {
                    throw new AssertionError("the job ended:\n" + job.log());
                }
                return Api.areSettled(now, 4)
                        && Api.ranks(now).stream()
                                .allMatch(rank -> rank.path("step").asLong() > 0);
            });
            Api.requireWithinBudget(status);
            for (int i = 0; i < 4; i++) {
                assertThat(Api.devices(status).get(i).path("ranks")).hasSize(1);
                JsonNode rank = Api.devices(status).get(i).path("ranks").get(0);
                assertThat(rank.path("launcher").asText()).isEqualTo("slurm");
                assertThat(rank.path("rank").asInt()).isEqualTo(i);
                assertThat(rank.path("localRank").asInt()).isEqualTo(i);
                assertThat(rank.path("worldSize").asInt()).isEqualTo(4);
            }

            job.signal("USR1");

            assertThat(job.awaitExit(WITHIN)).as(job.log()).isEqualTo(5);
            assertThat(job.log()).contains("rank 0 caught [10]", "rank 3 caught [10]");
            node.api().await("nothing is left", WITHIN, now -> Api.ranks(now).isEmpty());
        }
    }

    @Test
    void aStepOfMoreTasksThanDevicesIsRefusedAndOneOfTwoNodesCounted() throws IOException {
        try (MiniSlurm slurm = MiniSlurm.start(Files.createDirectory(folder.resolve("slurm")));
                UpNode node = UpNode.start(folder, "2xH100-80G");
                TestProcess tooMany =
                        node.launch("refused", run(node, "srun", "-n3", "-N2", "hostname"), slurm.variables());
                TestProcess failing =
                        node.launch("two", run(node, "srun", "-n2", "-N2", "sh", "-c", "exit 7"), slurm.variables())) {
            assertThat(tooMany.awaitExit(WITHIN)).isEqualTo(6);
            assertThat(tooMany.log()).contains("3 ranks, 2 devices in the whole cluster");
            assertThat(failing.awaitExit(WITHIN)).as(failing.log()).isEqualTo(7);
        }
    }
}
