package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three coordinators and two workers in five processes: who dies or is cut off, and what the ranks notice of it. */
class FailoverIT {
    private static final Duration JOIN_WITHIN = Duration.ofMinutes(1);
    private static final Duration TAKE_OVER_WITHIN = Duration.ofSeconds(10);
    private static final Duration REJOIN_WITHIN = Duration.ofSeconds(40);
    private static final Duration CHANGE_WITHIN = Duration.ofSeconds(20);
    private static final long GIB = 1L << 30;

    @TempDir
    private Path folder;

    @Test
    void anotherCoordinatorTakesOverAndNoLimitIsLostOrExceeded() {
        try (TestCluster cluster = new TestCluster(folder, "tcp", 3, 2);
                PlainRanks ranks = new PlainRanks()) {
            cluster.start();
            trainOnBothWorkers(cluster, ranks);
            TestCluster.Node acting = acting(cluster);
            TestCluster.Node standby = standby(cluster, acting);
            JsonNode before =
                    standby.api().await("four ranks hold confirmed limits", JOIN_WITHIN, now -> Api.areSettled(now, 4));
            long epoch = before.path("coordinator").path("epoch").asLong();
            Map<String, Long> ceilings = ceilings(before);

            acting.process().kill();

            JsonNode after = standby.api()
                    .await(
                            "another coordinator plans with a higher epoch",
                            TAKE_OVER_WITHIN,
                            now -> Api.isActive(now)
                                    && now.path("coordinator").path("epoch").asLong() > epoch
                                    && Api.areSettled(now, 4));
            assertThat(ceilings(after)).isEqualTo(ceilings);
            Api.requireWithinBudget(after);

            assertThat(standby.api()
                            .post("/api/v1/share", "{\"job\":\"plain-job\",\"share\":\"50%\"}", standby.stateDir()))
                    .isEqualTo(200);
            JsonNode changed = standby.api()
                    .await(
                            "the new coordinator's plan is confirmed",
                            CHANGE_WITHIN,
                            now -> Api.areSettled(now, 4)
                                    && Api.ranks(now).stream()
                                            .allMatch(rank ->
                                                    rank.path("ceilingBytes").asLong() == 32 * GIB));
            Api.requireWithinBudget(changed);
            ranks.stopAll();
        }
    }

    @Test
    void aWorkerThatWasDownedRejoinsWithoutItsRanksNoticing() {
        try (TestCluster cluster = new TestCluster(folder, "tcp", 1, 2);
                PlainRanks ranks = new PlainRanks()) {
            cluster.start();
            trainOnBothWorkers(cluster, ranks);
            Api api = cluster.coordinator(0).api();
            JsonNode before = api.await("four ranks hold confirmed limits", JOIN_WITHIN, now -> Api.areSettled(now, 4));
            TestProcess worker = cluster.worker(1).process();

            worker.signal("STOP");
            api.await(
                    "the stopped worker has fallen silent for longer than it takes to be downed",
                    JOIN_WITHIN,
                    now -> ageOf(now, "w1") > Duration.ofSeconds(8).toMillis());
            worker.signal("CONT");

            JsonNode after = api.await(
                    "the worker is heard again and its ranks still hold their limits",
                    REJOIN_WITHIN,
                    now -> ageOf(now, "w1") < Duration.ofSeconds(3).toMillis()
                            && Api.areSettled(now, 4)
                            && Api.ranks(now).stream()
                                    .allMatch(rank -> rank.path("connected").asBoolean()));
            assertThat(ceilings(after)).isEqualTo(ceilings(before));
            assertThat(worker.log()).contains("joining again as a new member");
            ranks.processes().forEach(rank -> assertThat(rank.log()).doesNotContain("reconnect"));
            ranks.stopAll();
        }
    }

    @Test
    void aClusterFormsAndPlansOverAeron() {
        try (TestCluster cluster = new TestCluster(folder, "aeron-udp", 1, 1);
                PlainRanks ranks = new PlainRanks()) {
            cluster.start();
            ranks.add(folder, cluster.worker(0).socket(), 0, 1, 0);
            JsonNode status = cluster.coordinator(0)
                    .api()
                    .await("a rank holds a confirmed limit", JOIN_WITHIN, now -> Api.areSettled(now, 1));
            Api.requireWithinBudget(status);
            ranks.stopAll();
        }
    }

    private void trainOnBothWorkers(TestCluster cluster, PlainRanks ranks) {
        for (int rank = 0; rank < 4; rank++) {
            ranks.add(folder, cluster.worker(rank / 2).socket(), rank, 4, rank % 2);
        }
    }

    private static TestCluster.Node acting(TestCluster cluster) {
        JsonNode status = cluster.coordinator(0).api().await("a coordinator is active", JOIN_WITHIN, Api::isActive);
        String name = status.path("coordinator").path("node").asText();
        return cluster.coordinators().stream()
                .filter(node -> node.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static TestCluster.Node standby(TestCluster cluster, TestCluster.Node acting) {
        List<TestCluster.Node> others = cluster.coordinators().stream()
                .filter(node -> !node.equals(acting))
                .toList();
        return others.get(0);
    }

    private static Map<String, Long> ceilings(JsonNode status) {
        Map<String, Long> ceilings = new TreeMap<>();
        Api.ranks(status)
                .forEach(rank -> ceilings.put(
                        rank.path("rank").asText(), rank.path("ceilingBytes").asLong()));
        return ceilings;
    }

    private static long ageOf(JsonNode status, String node) {
        for (JsonNode candidate : status.path("nodes")) {
            if (candidate.path("node").asText().equals(node)) {
                return candidate.path("ageMillis").asLong();
            }
        }
        return Long.MAX_VALUE;
    }
}
