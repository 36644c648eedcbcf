package dev.ullage.cli.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.client.ApiClient;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.EventsQuery;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.Explanation;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import dev.ullage.common.protocol.ToOperator.RankReason;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.HttpSettings;
import dev.ullage.config.SettingsException;
import dev.ullage.config.SettingsFlag;
import dev.ullage.config.SettingsLoader;
import dev.ullage.coordinator.http.HttpApi;
import dev.ullage.coordinator.http.OperatorToken;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.ClusterSingleton;
import org.apache.pekko.cluster.typed.Join;
import org.apache.pekko.cluster.typed.SingletonActor;
import org.apache.pekko.serialization.SerializationExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two nodes over TCP, with the settings of real ones. The first has the coordinator, and a status of 1,000 ranks; the
 * API of the second asks it.
 */
class StandbyIT {
    private static final Duration WITHIN = Duration.ofMinutes(1);
    private static final int DEVICES = 1250;
    private static final int RANKS = 1000;

    // Goal: a large cluster can be looked at from every node. Method: a status that is larger than a frame when it is
    // not compressed, asked for where it has to cross the network.
    @Test
    void aNodeThatStandsByAnswersForAThousandRanks(@TempDir Path folder) throws Exception {
        ActorTestKit acting = node();
        ActorTestKit standby = node();
        try {
            Cluster first = Cluster.get(acting.system());
            first.manager().tell(new Join(first.selfMember().address()));
            singleton(acting);
            Cluster second = Cluster.get(standby.system());
            second.manager().tell(new Join(first.selfMember().address()));
            ActorRef<ToCoordinator> coordinator = singleton(standby);

            assertThat(uncompressedBytes(acting, status())).isGreaterThan(1L << 20);
            int port = HttpApi.start(
                            standby.system(),
                            new HttpSettings("127.0.0.1", 0, false),
                            coordinator,
                            new NodeId("standby"),
                            OperatorToken.loadOrCreate(folder),
                            new MetricsPage(false))
                    .toCompletableFuture()
                    .get(WITHIN.toSeconds(), TimeUnit.SECONDS)
                    .localAddress()
                    .getPort();
            ApiClient client = new ApiClient(URI.create("http://127.0.0.1:" + port), WITHIN);

            JsonNode seen = standby.<String>createTestProbe().awaitAssert(WITHIN, client::status);

            int ranks = 0;
            for (JsonNode node : seen.path("nodes")) {
                for (JsonNode device : node.path("devices")) {
                    ranks += device.path("ranks").size();
                }
            }
            assertThat(ranks).isEqualTo(RANKS);
            assertThat(client.events(Optional.empty()).path("items")).hasSize(4);
            List<JsonNode> followed = new ArrayList<>();
            client.follow(Optional.empty(), message -> {
                followed.add(message);
                return false;
            });
            assertThat(followed.get(0).path("events")).hasSize(4);
        } finally {
            standby.shutdownTestKit();
            acting.shutdownTestKit();
        }
    }

    private static ActorTestKit node() throws SettingsException {
        List<SettingsFlag> flags = List.of(
                new SettingsFlag("--test", "ullage.cluster.port", "0"),
                new SettingsFlag("--test", "ullage.http.port", "0"));
        return ActorTestKit.create(
                ClusterConfig.SYSTEM_NAME,
                ClusterConfig.toPekkoConfig(
                        SettingsLoader.load(Optional.empty(), flags, Map.of("HOME", "/home/a")),
                        Set.of(ClusterConfig.COORDINATOR_ROLE)));
    }

    private static ActorRef<ToCoordinator> singleton(ActorTestKit kit) {
        Behavior<ToCoordinator> behavior = Behaviors.receiveMessage(message -> {
            if (message instanceof StatusQuery query) {
                query.replyTo().tell(status());
            } else if (message instanceof EventsQuery query) {
                query.replyTo().tell(BigCluster.events(query.after(), Instant.EPOCH));
            }
            return Behaviors.same();
        });
        return ClusterSingleton.get(kit.system()).init(SingletonActor.of(behavior, "coordinator"));
    }

    /** What the coordinator has to say of each rank, besides the figures. */
    private static ClusterStatus status() {
        ClusterStatus plain = BigCluster.of(DEVICES, 1);
        List<NodeStatus> nodes = plain.nodes().stream()
                .map(node -> new NodeStatus(
                        node.node(),
                        node.ageMillis(),
                        node.devices().stream().map(StandbyIT::explained).toList()))
                .toList();
        return new ClusterStatus(plain.coordinator(), plain.token(), plain.state(), nodes, plain.rollouts());
    }

    private static DeviceStatus explained(DeviceStatus device) {
        List<RankReason> reasons = device.sample().orElseThrow().ranks().stream()
                .map(rank -> new RankReason(
                        rank.instance(),
                        "rank-share",
                        "1 rank, budget 64.0 GiB (allocatable 80.0 GiB, reserve 20%, foreign 0 B); an equal part of it"
                                + " is 64.0 GiB for rank " + rank.instance().rank()))
                .toList();
        return new DeviceStatus(
                device.info(),
                device.sample(),
                device.ledger(),
                device.rollout(),
                Optional.of(new Explanation(reasons, Optional.empty())));
    }

    /** As a node without compression would send it. */
    private static long uncompressedBytes(ActorTestKit kit, ClusterStatus status) throws Exception {
        byte[] bytes =
                SerializationExtension.get(kit.system()).serialize(status).get();
        assertThat(bytes.length)
                .as("what is sent fits into a frame with room to spare")
                .isLessThan(256 << 10);
        try (var in = new java.util.zip.GZIPInputStream(new java.io.ByteArrayInputStream(bytes))) {
            return in.readAllBytes().length;
        }
    }
}
