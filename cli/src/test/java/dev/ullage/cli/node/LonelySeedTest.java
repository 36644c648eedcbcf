package dev.ullage.cli.node;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.ClusterSettings;
import dev.ullage.config.NodeAddress;
import dev.ullage.config.SettingsException;
import dev.ullage.config.SettingsFlag;
import dev.ullage.config.SettingsLoader;
import dev.ullage.config.UllageSettings;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.Done;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.Join;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A first seed node that began a cluster of its own, and what it does about it. */
class LonelySeedTest {
    private static final Duration WITHIN = Duration.ofSeconds(30);
    private static final Duration SOON = Duration.ofMillis(100);

    @TempDir
    private Path folder;

    private final List<ActorTestKit> members = new ArrayList<>();

    @AfterEach
    void stop() {
        members.forEach(ActorTestKit::shutdownTestKit);
    }

    private ActorTestKit member() throws SettingsException {
        List<SettingsFlag> flags = List.of(new SettingsFlag("--port", "ullage.cluster.port", "0"));
        Config config = ClusterConfig.toPekkoConfig(
                SettingsLoader.load(Optional.empty(), flags, Map.of("HOME", "/home/a")),
                Set.of(ClusterConfig.COORDINATOR_ROLE));
        ActorTestKit kit = ActorTestKit.create(ClusterConfig.SYSTEM_NAME, config);
        members.add(kit);
        Cluster first = Cluster.get(members.get(0).system());
        Cluster.get(kit.system()).manager().tell(Join.create(first.selfMember().address()));
        return kit;
    }

    private static NodeAddress address(ActorTestKit kit) {
        var address = Cluster.get(kit.system()).selfMember().address();
        return new NodeAddress(
                address.getHost().orElseThrow(), address.getPort().orElseThrow());
    }

    private static CompletableFuture<Done> end(ActorTestKit kit) {
        return kit.system().getWhenTerminated().toCompletableFuture();
    }

    @Test
    void itsMembershipEndsWhenAnotherSeedNodeIsThereAndEachTryWaitsLonger() throws Exception {
        LonelySeed.Patience patience = LonelySeed.Patience.of(SOON);
        try (ServerSocket elsewhere = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            NodeAddress other = new NodeAddress("127.0.0.1", elsewhere.getLocalPort());
            ActorTestKit seed = member();
            seed.spawn(LonelySeed.create(List.of(other), patience));

            end(seed).get(WITHIN.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(patience.now()).isEqualTo(SOON.multipliedBy(2));
    }

    @Test
    void itStaysWhereTheOtherIsAMember() throws Exception {
        LonelySeed.Patience patience = LonelySeed.Patience.of(SOON);
        patience.tries().set(3);
        ActorTestKit seed = member();
        ActorTestKit other = member();
        seed.<String>createTestProbe().awaitAssert(WITHIN, () -> assertThat(
                        Cluster.get(seed.system()).state().getMembers())
                .hasSize(2));

        seed.spawn(LonelySeed.create(List.of(address(other)), patience));

        seed.<String>createTestProbe().awaitAssert(WITHIN, () -> assertThat(patience.now())
                .as("what was in vain is forgotten once it is not alone")
                .isEqualTo(SOON));
        assertThat(end(seed)).isNotDone();
    }

    @Test
    void onlyTheFirstOfSeveralSeedNodesMayBeAlone() throws Exception {
        assertThat(LonelySeed.others(cluster("127.0.0.1", 4001, "127.0.0.1:4001", "127.0.0.1:4002")))
                .containsExactly(new NodeAddress("127.0.0.1", 4002));
        assertThat(LonelySeed.others(cluster("127.0.0.1", 4002, "127.0.0.1:4001", "127.0.0.1:4002")))
                .isEmpty();
        assertThat(LonelySeed.others(cluster("127.0.0.1", 4001, "127.0.0.1:4001")))
                .isEmpty();
        assertThat(LonelySeed.others(cluster("127.0.0.1", 0))).isEmpty();
    }

    private ClusterSettings cluster(String host, int port, String... seeds) throws Exception {
        Path file = folder.resolve("node.conf");
        Files.writeString(
                file,
                "ullage.cluster { host = \"%s\", port = %d, seed-nodes = [%s] }"
                        .formatted(
                                host,
                                port,
                                String.join(
                                        ", ",
                                        List.of(seeds).stream()
                                                .map(seed -> "\"" + seed + "\"")
                                                .toList())));
        UllageSettings settings = SettingsLoader.load(Optional.of(file), List.of(), Map.of("HOME", "/home/a"));
        return settings.cluster();
    }
}
