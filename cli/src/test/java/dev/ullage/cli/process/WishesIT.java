package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What operators set outlives the coordinator they told and a worker's process. */
class WishesIT {
    private static final Duration JOIN_WITHIN = Duration.ofMinutes(1);
    private static final Duration TAKE_OVER_WITHIN = Duration.ofSeconds(20);
    private static final Duration END_WITHIN = Duration.ofSeconds(30);
    private static final long GIB = 1L << 30;

    @TempDir
    private Path folder;

    private int commands;

    private record Answer(int exitCode, String text) {}

    private Answer ullage(TestCluster.Node node, String... arguments) {
        List<String> command = new ArrayList<>(List.of(Distribution.ullage()));
        command.addAll(List.of(arguments));
        command.addAll(List.of("--server", node.api().base()));
        command.addAll(List.of(
                "--token-file", node.stateDir().resolve("operator.token").toString()));
        try (TestProcess process = TestProcess.start(folder, "command-" + commands++, command, Map.of("USER", "ann"))) {
            int exitCode = process.awaitExit(END_WITHIN);
            return new Answer(exitCode, process.log());
        }
    }

    private void accepted(TestCluster.Node node, String... arguments) {
        Answer answer = ullage(node, arguments);
        assertThat(answer.exitCode()).as(answer.text()).isZero();
    }

    private static JsonNode rank(JsonNode status, int number) {
        return Api.ranks(status).stream()
                .filter(rank -> rank.path("rank").asInt() == number)
                .findFirst()
                .orElseThrow();
    }

    private static boolean isDraining(JsonNode status, String node) {
        for (JsonNode one : status.path("nodes")) {
            if (one.path("node").asText().equals(node)) {
                return one.path("draining").asBoolean(false);
            }
        }
        return false;
    }

    @Test
    void whatIsSetIsKeptWhenTheCoordinatorAndThenAWorkerIsKilled() throws IOException {
        try (TestCluster cluster = new TestCluster(folder, "tcp", 3, 2);
                PlainRanks ranks = new PlainRanks()) {
            cluster.start();
            ranks.add(folder, cluster.worker(0).socket(), 0, 4, 0);
            ranks.add(folder, cluster.worker(0).socket(), 1, 4, 1);
            TestCluster.Node first = cluster.coordinator(0);
            JsonNode before = first.api().await("two ranks settle", JOIN_WITHIN, now -> Api.areSettled(now, 2));
            TestCluster.Node acting = cluster.coordinators().stream()
                    .filter(node -> node.name()
                            .equals(before.path("coordinator").path("node").asText()))
                    .findFirst()
                    .orElseThrow();
            TestCluster.Node standby = cluster.coordinators().stream()
                    .filter(node -> !node.equals(acting))
                    .findFirst()
                    .orElseThrow();

            setAll(acting);
            acting.process().kill();

            JsonNode after = standby.api()
                    .await(
                            "another coordinator plans by what was set",
                            TAKE_OVER_WITHIN,
                            now -> Api.isActive(now)
                                    && !now.path("coordinator")
                                            .path("node")
                                            .asText()
                                            .equals(acting.name())
                                    && isKept(now));
            Api.requireWithinBudget(after);
            assertThat(after.at("/operator/draining/0/reason").asText()).isEqualTo("new fan");
            assertThat(after.at("/operator/draining/0/by").asText()).isEqualTo("ann");
            assertPlacedElsewhere(standby);

            ranks.add(folder, cluster.worker(0).socket(), 2, 4, 2);
            standby.api()
                    .await(
                            "a later rank of the job gets the job's share",
                            JOIN_WITHIN,
                            now -> Api.areSettled(now, 3)
                                    && rank(now, 2).path("ceilingBytes").asLong() == 32 * GIB);
            restartTheWorkers(cluster, standby);
            ranks.stopAll();
        }
    }

    private void setAll(TestCluster.Node acting) {
        accepted(acting, "set", "share", "plain-job", "50%");
        accepted(acting, "set", "priority", "plain-job", "high");
        accepted(acting, "set", "limit", "plain-job/1", "20GiB");
        accepted(acting, "drain", "w1", "--reason", "new fan");
        Answer tooMuch = ullage(acting, "set", "limit", "plain-job/0", "79GiB");
        assertThat(tooMuch.exitCode()).as(tooMuch.text()).isEqualTo(6);
        assertThat(tooMuch.text()).contains("it can have 64.0 GiB now");
        Answer unknown = ullage(acting, "drain", "w8");
        assertThat(unknown.exitCode()).as(unknown.text()).isEqualTo(6);
        assertThat(unknown.text()).contains("did you mean w0?");
    }

    private static boolean isKept(JsonNode now) {
        return Api.areSettled(now, 2)
                && isDraining(now, "w1")
                && !isDraining(now, "w0")
                && rank(now, 0).path("ceilingBytes").asLong() == 32 * GIB
                && rank(now, 1).path("ceilingBytes").asLong() == 20 * GIB
                && rank(now, 1).path("setLimitBytes").asLong() == 20 * GIB
                && rank(now, 0).path("priority").asText().equals("high");
    }

    private void assertPlacedElsewhere(TestCluster.Node node) {
        List<String> command = List.of(
                Distribution.ullage(), "place", "--server", node.api().base(), "--ranks", "5", "--memory", "40GiB");
        try (TestProcess process = TestProcess.start(folder, "place", command, Map.of())) {
            assertThat(process.awaitExit(END_WITHIN)).as(process.log()).isEqualTo(1);
            assertThat(process.log()).contains("its node is draining");
        }
    }

    /** One after the other, with kill -9. */
    private void restartTheWorkers(TestCluster cluster, TestCluster.Node standby) {
        for (int i = 0; i < 2; i++) {
            cluster.worker(i).process().kill();
            cluster.worker(i).start();
            cluster.worker(i).awaitReady();
        }
        standby.api()
                .await(
                        "what was set is still there after the workers' restart",
                        JOIN_WITHIN,
                        now -> Api.isActive(now)
                                && isDraining(now, "w1")
                                && Api.areSettled(now, 3)
                                && rank(now, 1).path("setLimitBytes").asLong() == 20 * GIB);
    }

    // Goal: with every process gone, the files alone bring it back.
    @Test
    void oneNodeThatStartsAgainStillDrains() {
        try (UpNode node = UpNode.start(folder, "2xH100-80G")) {
            JsonNode status = node.api()
                    .await(
                            "it plans",
                            JOIN_WITHIN,
                            now -> Api.isActive(now) && !now.path("nodes").isEmpty());
            String name = status.at("/nodes/0/node").asText();
            assertThat(node.api().post("/api/v1/drain", "{\"node\":\"" + name + "\"}", node.stateDir()))
                    .isEqualTo(200);
            node.api().await("the worker has it on disk", JOIN_WITHIN, now -> node.stateDir()
                    .resolve("operator-wishes.json")
                    .toFile()
                    .exists());
            node.process().kill();
            node.restart("2xH100-80G");
            node.api().await("it is draining still", JOIN_WITHIN, now -> Api.isActive(now) && isDraining(now, name));
        }
    }

    @Test
    void ranksGiveTheirCachesBackWhenAnOperatorSaysSo() {
        try (UpNode node = UpNode.start(folder, "2xH100-80G");
                PlainRanks ranks = new PlainRanks()) {
            ranks.add(folder, node.socket(), 0, 1, 1);
            node.api().await("the rank settles", JOIN_WITHIN, now -> Api.areSettled(now, 1));
            assertThat(node.api().post("/api/v1/release", "{\"job\":\"plain-job\"}", node.stateDir()))
                    .isEqualTo(200);
            node.process().awaitOutput("cache released: ", JOIN_WITHIN);
            assertThat(node.api().post("/api/v1/release", "{\"job\":\"plain-jbo\"}", node.stateDir()))
                    .isEqualTo(404);
            ranks.stopAll();
        }
    }

    // Goal: a node that stops while the page is open does not look as if it broke.
    @Test
    void nothingIsAnErrorWhenANodeStopsWhoseStreamIsRead() throws Exception {
        try (UpNode node = UpNode.start(folder, "2xH100-80G")) {
            HttpClient client = HttpClient.newHttpClient();
            List<HttpResponse<InputStream>> readers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                readers.add(client.send(
                        HttpRequest.newBuilder(URI.create(node.api().base() + "/api/v1/stream"))
                                .build(),
                        HttpResponse.BodyHandlers.ofInputStream()));
            }
            for (HttpResponse<InputStream> reader : readers) {
                assertThat(reader.body().read()).isPositive();
            }

            assertThat(node.process().stop()).isZero();

            assertThat(node.process().log()).doesNotContain("ERROR").doesNotContain("terminated abruptly");
        }
    }
}
