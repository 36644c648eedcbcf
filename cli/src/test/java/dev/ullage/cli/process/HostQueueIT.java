package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs whose processors do not fit beside each other, on a node with four free devices and eight cores. */
class HostQueueIT {
    private static final Duration WITHIN = Duration.ofMinutes(2);

    @TempDir
    private Path folder;

    private final int port = Ports.free();
    private final Api api = new Api(port);

    private TestProcess up() throws Exception {
        Files.writeString(
                settings(),
                """
                ullage {
                  node { name = w0, state-dir = "%s" }
                  cluster.port = 0
                  http.port = %d
                  worker { devices.simulate = "4xH100-80G", host.cpus = 8 }
                }
                """
                        .formatted(folder.resolve("state"), port));
        TestProcess process = TestProcess.start(
                folder,
                "up",
                List.of(Distribution.ullage(), "up", "--config", settings().toString()),
                Map.of());
        process.awaitOutput("ready", WITHIN);
        return process;
    }

    private Path settings() {
        return folder.resolve("w0.conf");
    }

    private TestProcess run(String job, String cpus) {
        return TestProcess.start(
                folder,
                job,
                List.of(
                        Distribution.ullage(),
                        "run",
                        "--config",
                        settings().toString(),
                        "--server",
                        api.base(),
                        "--token-file",
                        folder.resolve("state").resolve("operator.token").toString(),
                        "--job",
                        job,
                        "--ranks",
                        "1",
                        "--memory-per-rank",
                        "1GiB",
                        "--cpus",
                        cpus,
                        "--",
                        "sh",
                        "-c",
                        "echo started; until [ -e %s ] || [ ! -d %s ]; do sleep 0.1; done"
                                .formatted(stop(job), folder)),
                Map.of());
    }

    private Path stop(String job) {
        return folder.resolve("stop-" + job);
    }

    private TestProcess cli(String... words) {
        List<String> command = new ArrayList<>();
        command.add(Distribution.ullage());
        command.addAll(List.of(words));
        command.addAll(List.of("--server", api.base()));
        return TestProcess.start(folder, String.join("-", words), command, Map.of());
    }

    @Test
    void theSecondWaitsForProcessorsSaysSoAndStartsWhenTheFirstHasEnded() throws Exception {
        try (TestProcess up = up()) {
            assertThat(up.log()).contains("cpus=8 ");
            api.await("four devices are known", WITHIN, now -> Api.devices(now).size() == 4);
            try (TestProcess first = run("first", "5")) {
                first.awaitOutput("started", WITHIN);
                try (TestProcess second = run("second", "3.5")) {
                    second.awaitOutput("waits as number 1", WITHIN);
                    assertThat(second.log()).contains("cpus on w0: asked 3.5, free 3");
                    assertIsShown();
                    assertThat(second.log()).doesNotContain("started");

                    Files.createFile(stop("first"));
                    assertThat(first.awaitExit(WITHIN)).as(first.log()).isZero();
                    second.awaitOutput("started", WITHIN);
                    Files.createFile(stop("second"));
                    assertThat(second.awaitExit(WITHIN)).as(second.log()).isZero();
                }
            }
            try (TestProcess never = run("never", "9")) {
                assertThat(never.awaitExit(WITHIN)).as(never.log()).isEqualTo(6);
                assertThat(never.log()).contains("this can never fit", "cpus on w0: asked 9, has 8");
            }
        }
    }

    private void assertIsShown() {
        JsonNode host = api.await(
                "what the first asked for is in the ledger",
                WITHIN,
                now -> now.at("/nodes/0/host/askedCpuMilli").asInt() == 5_000);
        assertThat(host.at("/nodes/0/host/cpuMilli").asInt()).isEqualTo(8_000);
        assertThat(host.at("/nodes/0/host/memoryBytes").asLong())
                .as("what this machine has")
                .isPositive();
        assertThat(host.at("/nodes/0/host/enforcedBy").asText()).isEqualTo("advisory");
        try (TestProcess status = cli("status");
                TestProcess jobs = cli("jobs");
                TestProcess place =
                        cli("place", "--ranks", "1", "--memory", "1GiB", "--cpus", "4", "--format", "json")) {
            assertThat(status.awaitExit(WITHIN)).as(status.log()).isZero();
            assertThat(status.log())
                    .contains("advisory: nothing holds them to it")
                    .containsPattern("w0 +8 +5 ");
            assertThat(jobs.awaitExit(WITHIN)).as(jobs.log()).isZero();
            assertThat(jobs.log()).contains("cpus on w0: asked 3.5, free 3");
            assertThat(place.awaitExit(WITHIN)).as(place.log()).isEqualTo(1);
            assertThat(place.log()).contains("this does not fit now", "cpus on w0: asked 4, free 3");
        }
    }
}
