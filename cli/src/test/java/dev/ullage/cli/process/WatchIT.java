package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What ranks do with their memory reaches the coordinator, which gives each phase what it was seen to need. */
class WatchIT {
    private static final Duration WITHIN = Duration.ofSeconds(90);
    private static final Duration END_WITHIN = Duration.ofSeconds(20);
    private static final long MIB = 1L << 20;

    /** Trains for ever: 1000 MiB of model, 3000 in forward, 4000 in backward, 1500 in the optimizer's step. */
    private static final String SCRIPT =
            """
            import sys, time, ullage
            MIB = 1 << 20
            leak = int(sys.argv[1]) * MIB
            allocator = ullage.LimitedAllocator()
            rank = ullage.connect(applier=allocator, require=True)
            rank.wait_for_limit(30)
            allocator.reserve(1000 * MIB)
            while True:
                rank.epoch(rank.step // 20)
                rank.enter_phase("forward")
                allocator.reserve(2000 * MIB)
                rank.enter_phase("backward")
                allocator.reserve(1000 * MIB)
                allocator.release(3000 * MIB)
                allocator.release_cache()
                rank.enter_phase("optimizer")
                allocator.reserve(500 * MIB)
                allocator.release(500 * MIB)
                allocator.release_cache()
                allocator.reserve(leak)
                rank.step_done()
                rank.enter_phase("idle")
                time.sleep(0.05)
            """;

    @TempDir
    private Path folder;

    private TestProcess up(int port) throws IOException {
        Path settings = folder.resolve("watch.conf");
        Files.writeString(
                settings,
                """
                ullage {
                  node.state-dir = "%s"
                  cluster.port = 0
                  http.port = %d
                  worker.devices.simulate = "2xH100-80G"
                  limits.policy = observed
                }
                """
                        .formatted(folder.resolve("state"), port));
        TestProcess node = TestProcess.start(
                folder, "up", List.of(Distribution.ullage(), "up", "--config", settings.toString()), Map.of());
        node.awaitOutput("is ready", UpNode.READY_WITHIN);
        return node;
    }

    private TestProcess rank(String job, int device, List<String> command) {
        return TestProcess.start(
                folder,
                job,
                command,
                Map.of(
                        "ULLAGE_SOCKET", folder.resolve("state/ranks.sock").toString(),
                        "PYTHONPATH", Distribution.pythonPath(),
                        "OMP_NUM_THREADS", "1",
                        "ULLAGE_JOB", job,
                        "ULLAGE_DEVICE", Integer.toString(device)));
    }

    private static JsonNode rankOf(JsonNode status, String job) {
        return Api.ranks(status).stream()
                .filter(rank -> rank.path("job").asText().equals(job))
                .findFirst()
                .orElse(MissingNode.getInstance());
    }

    private static long peak(JsonNode rank, String phase) {
        for (JsonNode peak : rank.path("watch").path("phases")) {
            if (peak.path("phase").asText().equals(phase)) {
                return peak.path("peakReservedBytes").asLong() / MIB;
            }
        }
        return -1;
    }

    /** By phase: until some steps were watched it is held to the peak of its whole life, in all of them. */
    private static boolean isHeldToItsPeaks(JsonNode rank) {
        return rank.path("settled").asBoolean()
                && rank.path("limitsBytes").path("BACKWARD").asLong() == 4_400 * MIB
                && rank.path("limitsBytes").path("FORWARD").asLong() < 4_400 * MIB;
    }

    @Test
    void eachPhaseGetsWhatItWasSeenToNeedAndALeakIsNamed() throws IOException {
        int port = Ports.free();
        Api api = new Api(port);
        List<String> script = List.of(Distribution.PYTHON, "-c", SCRIPT);
        try (TestProcess node = up(port);
                TestProcess steady = rank("steady", 0, UpNode.concat(script, List.of("0")));
                TestProcess leaking = rank("leaking", 1, UpNode.concat(script, List.of("1")))) {
            JsonNode rank = rankOf(
                    api.await(
                            "limits by phase",
                            WITHIN,
                            now -> Api.areSettled(now, 2) && isHeldToItsPeaks(rankOf(now, "steady"))),
                    "steady");
            assertThat(List.of(peak(rank, "INIT"), peak(rank, "FORWARD"), peak(rank, "BACKWARD")))
                    .containsExactly(1_000L, 3_000L, 4_000L);
            assertThat(peak(rank, "OPTIMIZER")).isEqualTo(1_500);
            assertThat(rank.path("limitsBytes").path("FORWARD").asLong()).isEqualTo(3_300 * MIB);
            assertThat(rank.path("limitsBytes").path("OPTIMIZER").asLong()).isEqualTo(1_650 * MIB);
            assertThat(rank.path("limitsBytes").path("EVALUATION").asLong())
                    .as("a phase that was never seen")
                    .isEqualTo(4_400 * MIB);
            assertThat(rank.path("watch").path("epoch").asLong())
                    .isEqualTo((rank.path("watch").path("step").asLong() - 1) / 20);

            JsonNode leak = rankOf(
                            api.await("the leak is suspected", WITHIN, now -> rankOf(now, "leaking")
                                    .path("watch")
                                    .path("leak")
                                    .path("state")
                                    .asText()
                                    .equals("suspected")),
                            "leaking")
                    .path("watch")
                    .path("leak");
            assertThat(leak.path("growthPerStepBytes").asLong()).isEqualTo(MIB);
            assertThat(output(api, "ranks")).contains("1.0 MiB/step").contains("leaking/0");
            assertThat(output(api, "status")).contains("LEAK 1.0 MiB/step");
            Api.requireWithinBudget(api.status().orElseThrow());
            assertThat(List.of(node.isAlive(), steady.isAlive(), leaking.isAlive()))
                    .containsOnly(true);
        }
    }

    @Test
    void aTrainingWithTorchIsWatchedPhaseByPhase() throws IOException {
        Requires.python("torch", Distribution.PYTHON, "python3-torch");
        int port = Ports.free();
        List<String> trainer = List.of(
                Distribution.PYTHON,
                "-m",
                "ullage.demo.trainer",
                "--model",
                "torch",
                "--demand-bytes",
                "1073741824",
                "--seconds",
                "120");
        try (TestProcess node = up(port);
                TestProcess torch = rank("torch", 0, trainer)) {
            JsonNode rank = rankOf(
                    new Api(port)
                            .await(
                                    "the peaks of a training step",
                                    WITHIN,
                                    now -> Api.areSettled(now, 1)
                                            && rankOf(now, "torch")
                                                            .path("watch")
                                                            .path("steps")
                                                            .asLong()
                                                    >= 10
                                            && rankOf(now, "torch")
                                                            .path("limitsBytes")
                                                            .path("BACKWARD")
                                                            .asLong()
                                                    < 2_048 * MIB),
                    "torch");
            assertThat(peak(rank, "BACKWARD")).isGreaterThanOrEqualTo(1_024);
            assertThat(peak(rank, "OPTIMIZER")).isPositive();
            assertThat(rank.path("framework").asText()).startsWith("torch");
            assertThat(rank.path("watch").path("allocationsPerStep").asLong()).isPositive();
            assertThat(List.of(node.isAlive(), torch.isAlive())).containsOnly(true);
        }
    }

    private String output(Api api, String command) {
        try (TestProcess shown = TestProcess.start(
                folder, command, List.of(Distribution.ullage(), command, "--server", api.base()), Map.of())) {
            assertThat(shown.awaitExit(END_WITHIN)).isZero();
            return shown.log();
        }
    }
}
