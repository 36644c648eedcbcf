package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that do not fit beside each other, on three coordinators and one worker with four devices. */
class QueueIT {
    private static final Duration WITHIN = Duration.ofMinutes(2);
    private static final String SETTINGS = "ullage.coordinator.queue { lease = 6s, idle-for = 8s, settle-for = 4s }";

    @TempDir
    private Path folder;

    // A launcher that is not known starts no rank, so what is kept for a job is kept by its reservation alone.
    private TestProcess run(TestCluster cluster, TestCluster.Node server, String job, int ranks, String... options) {
        List<String> command = new ArrayList<>(List.of(
                Distribution.ullage(),
                "run",
                "--config",
                folder.resolve(cluster.worker(0).name() + ".conf").toString(),
                "--server",
                server.api().base(),
                "--token-file",
                server.stateDir().resolve("operator.token").toString(),
                "--job",
                job,
                "--ranks",
                Integer.toString(ranks)));
        command.addAll(List.of(options));
        command.addAll(List.of(
                "--",
                "sh",
                "-c",
                "echo started on $CUDA_VISIBLE_DEVICES; until [ -e %s ] || [ ! -d %s ]; do sleep 0.1; done"
                        .formatted(stop(job), folder)));
        return TestProcess.start(folder, job, command, Map.of());
    }

    private Path stop(String job) {
        return folder.resolve("stop-" + job);
    }

    private static JsonNode await(TestCluster.Node server, String what, String job, String state) {
        return Eventually.find(
                what,
                WITHIN,
                () -> request(server, job)
                        .filter(request -> request.path("state").asText().equals(state)),
                () -> server.api()
                        .get("/api/v1/requests")
                        .map(JsonNode::toPrettyString)
                        .orElse("no answer"));
    }

    private static Optional<JsonNode> request(TestCluster.Node server, String job) {
        return server.api().get("/api/v1/requests/" + job);
    }

    @Test
    void whoWaitsKeepsItsPlaceAndARunThatIsKilledGivesItsRoomBack() throws Exception {
        try (TestCluster cluster = new TestCluster(folder, "tcp", 3, 1, name -> SETTINGS)) {
            cluster.start();
            TestCluster.Node acting = acting(cluster);
            TestCluster.Node server = cluster.coordinators().stream()
                    .filter(node -> node != acting)
                    .findFirst()
                    .orElseThrow();
            server.api()
                    .await(
                            "four devices are known",
                            WITHIN,
                            now -> Api.devices(now).size() == 4);
            try (TestProcess first = run(cluster, server, "first", 3, "--wait", "--memory-per-rank", "60GiB")) {
                first.awaitOutput("started on", WITHIN);
                assertThat(first.log()).containsPattern("started on \\d,\\d,\\d\n");
                waitBehind(cluster, acting, server, first);
            }
        }
    }

    private void waitBehind(TestCluster cluster, TestCluster.Node acting, TestCluster.Node server, TestProcess first)
            throws Exception {
        try (TestProcess second = run(cluster, server, "second", 2, "--priority", "medium");
                TestProcess third = runThird(cluster, server, second)) {
            JsonNode waiting = await(server, "the second job waits", "second", "waiting");
            assertThat(waiting.path("position").asInt()).isEqualTo(1);
            assertThat(waiting.path("waitsFor").asText())
                    .contains("2 devices with a whole device each; 1 has that now");

            await(server, "the third job waits behind it", "third", "waiting");

            acting.process().kill();

            JsonNode third2 = await(server, "the third job waits at the next coordinator", "third", "waiting");
            assertThat(third2.path("waitedMillis").asLong()).isPositive();
            await(server, "what runs is found again", "first", "placed");
            await(server, "the second job waits again", "second", "waiting");
            assertThat(positions(server)).containsExactly("second", "third");
            assertThat(second.log()).doesNotContain("started on");

            assertThat(cli(server, "set", "priority", "third", "high")).isZero();
            Eventually.holds(
                    "who matters more is first",
                    WITHIN,
                    () -> positions(server).equals(List.of("third", "second")),
                    () -> positions(server).toString());
            assertThat(cli(server, "cancel", "third")).isZero();
            assertThat(third.awaitExit(WITHIN)).as(third.log()).isEqualTo(6);

            first.kill();
            second.awaitOutput("started on", WITHIN);
            assertThat(second.log()).contains("waits as number 1", "no known end of a job makes room for it");
            Files.createFile(stop("second"));
            assertThat(second.awaitExit(WITHIN)).as(second.log()).isZero();
            Eventually.holds(
                    "nothing is left of it",
                    WITHIN,
                    () -> request(server, "second")
                            .map(state -> state.path("state").asText().equals("ended"))
                            .orElse(true),
                    () -> "");
            Files.createFile(stop("first"));
        }
    }

    private TestProcess runThird(TestCluster cluster, TestCluster.Node server, TestProcess second) {
        second.awaitOutput("waits as number 1", WITHIN);
        return run(cluster, server, "third", 4, "--wait=10m");
    }

    private static List<String> positions(TestCluster.Node server) {
        List<String> jobs = new ArrayList<>();
        server.api().get("/api/v1/requests").orElseThrow().path("items").forEach(item -> {
            if (item.path("state").asText().equals("waiting")) {
                jobs.add(item.path("job").asText());
            }
        });
        return jobs;
    }

    private int cli(TestCluster.Node server, String... words) {
        List<String> command = new ArrayList<>();
        command.add(Distribution.ullage());
        command.addAll(List.of(words));
        command.addAll(List.of(
                "--server",
                server.api().base(),
                "--token-file",
                server.stateDir().resolve("operator.token").toString()));
        try (TestProcess process = TestProcess.start(folder, String.join("-", words), command, Map.of())) {
            return process.awaitExit(WITHIN);
        }
    }

    private static TestCluster.Node acting(TestCluster cluster) {
        String name = cluster.coordinator(0)
                .api()
                .await("a coordinator is active", WITHIN, Api::isActive)
                .path("coordinator")
                .path("node")
                .asText();
        return cluster.coordinators().stream()
                .filter(node -> node.name().equals(name))
                .findFirst()
                .orElseThrow();
    }
}
