package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A worker whose network is cut: it goes on by itself, is removed, and comes back as a new member; its ranks see
 * nothing.
 */
class PartitionIT {
    private static final Duration READY_WITHIN = Duration.ofMinutes(1);
    private static final Duration COMMAND_WITHIN = Duration.ofSeconds(30);
    private static final Duration REMOVED_WITHIN = Duration.ofSeconds(40);
    private static final Duration REJOIN_WITHIN = Duration.ofSeconds(60);
    private static final int CLUSTER_PORT = 25520;

    @TempDir
    private Path folder;

    private int looks;

    @Test
    void ranksTrainThroughACutAndTheWorkerRejoinsWithTheSamePromises() throws IOException {
        Requires.networkNamespaces();
        try (TwoHosts hosts = new TwoHosts();
                TestProcess coordinator = node(hosts.onFirst(command("coordinator")), TwoHosts.FIRST_ADDRESS);
                TestProcess worker = node(hosts.onSecond(command("worker")), TwoHosts.SECOND_ADDRESS);
                PlainRanks ranks = new PlainRanks()) {
            coordinator.awaitOutput("is ready", READY_WITHIN);
            worker.awaitOutput("is ready", READY_WITHIN);
            ranks.add(folder, folder.resolve("worker/ranks.sock"), 0, 1, 0);
            JsonNode before = await(hosts, "the rank holds a confirmed limit", READY_WITHIN);

            hosts.cutTheCable();
            worker.awaitOutput("removed from the cluster", REMOVED_WITHIN);
            assertThat(ranks.processes()).allMatch(TestProcess::isAlive);
            hosts.mendTheCable();

            JsonNode after = await(hosts, "the rank is seen again, with its limit", REJOIN_WITHIN);
            assertThat(rank(after).path("sequence").asLong())
                    .as("the promise is the one made before the cut")
                    .isEqualTo(rank(before).path("sequence").asLong());
            assertThat(rank(after).path("step").asLong())
                    .isGreaterThan(rank(before).path("step").asLong());
            assertThat(ranks.processes().get(0).log()).doesNotContain("connect");
            ranks.stopAll();
        }
    }

    private static List<String> command(String role) {
        return List.of(Distribution.ullage(), role, "--config");
    }

    private TestProcess node(List<String> command, String address) throws IOException {
        String role = command.get(command.size() - 2);
        Path settings = folder.resolve(role + ".conf");
        Files.writeString(
                settings,
                """
                ullage {
                  node { name = "%s", state-dir = "%s" }
                  cluster { host = "%s", port = %d, seed-nodes = ["%s:%d"] }
                  worker.devices.simulate = "1xH100-80G"
                }
                """
                        .formatted(
                                role,
                                folder.resolve(role),
                                address,
                                CLUSTER_PORT,
                                TwoHosts.FIRST_ADDRESS,
                                CLUSTER_PORT));
        return TestProcess.start(folder, role, UpNode.concat(command, List.of(settings.toString())), Map.of());
    }

    /** Asks on the coordinator's own host: the API listens on its loopback address only. */
    private JsonNode await(TwoHosts hosts, String what, Duration within) {
        return Eventually.find(
                what,
                within,
                () -> status(hosts)
                        .filter(status -> Api.areSettled(status, 1)
                                && rank(status).path("step").asLong() > 0
                                && status.path("nodes").get(0).path("ageMillis").asLong() < 3000),
                () -> status(hosts).map(JsonNode::toPrettyString).orElse("no answer"));
    }

    private Optional<JsonNode> status(TwoHosts hosts) {
        List<String> command = hosts.onFirst(List.of(Distribution.ullage(), "status", "--json"));
        try (TestProcess look = TestProcess.start(folder, "look-" + looks++, command, Map.of())) {
            return look.awaitExit(COMMAND_WITHIN) == 0
                    ? Optional.of(new ObjectMapper().readTree(look.log()))
                    : Optional.empty();
        } catch (JsonProcessingException e) {
            throw new AssertionError("not JSON", e);
        }
    }

    private static JsonNode rank(JsonNode status) {
        return Api.ranks(status).get(0);
    }
}
