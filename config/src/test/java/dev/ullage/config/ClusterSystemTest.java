package dev.ullage.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.StaleCoordinator;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.RolloutStatus;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import java.io.NotSerializableException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.cluster.MemberStatus;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.Join;
import org.apache.pekko.serialization.SerializationExtension;
import org.apache.pekko.serialization.Serializers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Real ActorSystems started with what {@link ClusterConfig} makes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClusterSystemTest {
    private final ActorTestKit kit;

    ClusterSystemTest() throws SettingsException {
        kit = ActorTestKit.create(ClusterConfig.SYSTEM_NAME, config(Transport.TCP));
    }

    @BeforeAll
    void joinItself() {
        Cluster cluster = Cluster.get(kit.system());
        cluster.manager().tell(Join.create(cluster.selfMember().address()));
    }

    @AfterAll
    void stop() {
        kit.shutdownTestKit();
    }

    @Test
    void messagesOfTheProtocolSurviveTheWire() {
        TestProbe<ToOperator> operator = kit.createTestProbe();
        CoordinatorToken token = new CoordinatorToken(3, "c");

        List.of(
                        new StaleCoordinator(
                                new NodeId("n"), new DeviceId("GPU-1"), token, new CoordinatorToken(4, "d")),
                        new SetReserve(Optional.empty(), Share.ofPercent(25), operator.getRef()),
                        new SetReserve(Optional.of(new DeviceId("GPU-1")), Share.NONE, operator.getRef()),
                        new LearnFrom(
                                token, kit.<ToCoordinator>createTestProbe().getRef()),
                        new Accepted("done"))
                .forEach(message -> kit.serializationTestKit().verifySerialization(message, true));
    }

    @Test
    void aNumberThatIsMissingIsAnErrorAndNotZero() throws Exception {
        var serialization = SerializationExtension.get(kit.system());
        var whole = new CoordinatorToken(7, "c");
        var message = new StaleCoordinator(new NodeId("n"), new DeviceId("d"), whole, whole);
        byte[] bytes = serialization.serialize(message).get();
        var serializer = serialization.findSerializerFor(message);
        String manifest = Serializers.manifestFor(serializer, message);
        // "epoch" becomes a name nobody knows: the field is missing, as from a peer that never had it.
        byte[] renamed = new String(bytes, StandardCharsets.ISO_8859_1)
                .replace("epoch", "hcope")
                .getBytes(StandardCharsets.ISO_8859_1);

        assertThat(serialization
                        .deserialize(bytes, serializer.identifier(), manifest)
                        .get())
                .isEqualTo(message);
        assertThatThrownBy(() -> serialization
                        .deserialize(renamed, serializer.identifier(), manifest)
                        .get())
                .hasMessageContaining("FAIL_ON_NULL_FOR_PRIMITIVES");
    }

    @Test
    void nothingButTheProtocolIsSerialized() {
        assertThatThrownBy(() -> SerializationExtension.get(kit.system())
                        .serialize(new RolloutStatusLookalike(1))
                        .get())
                .isInstanceOf(NotSerializableException.class);
    }

    @Test
    void aNodeThatJoinsItselfIsUp() {
        Cluster cluster = Cluster.get(kit.system());

        kit.<String>createTestProbe().awaitAssert(Duration.ofSeconds(20), () -> {
            assertThat(cluster.selfMember().status()).isEqualTo(MemberStatus.up());
            return "up";
        });
        assertThat(cluster.selfMember().hasRole(ClusterConfig.WORKER_ROLE)).isTrue();
    }

    @Test
    void anotherNodeJoinsAtASeedNode() throws SettingsException {
        int port = Cluster.get(kit.system()).selfMember().address().getPort().orElseThrow();
        ActorTestKit other = ActorTestKit.create(
                ClusterConfig.SYSTEM_NAME,
                config(Transport.TCP, new SettingsFlag("--join", "ullage.cluster.seed-nodes", "127.0.0.1:" + port)));
        try {
            kit.<String>createTestProbe().awaitAssert(Duration.ofSeconds(20), () -> {
                assertThat(Cluster.get(other.system()).selfMember().status()).isEqualTo(MemberStatus.up());
                assertThat(Cluster.get(kit.system()).state().getMembers()).hasSize(2);
                return "joined";
            });
        } finally {
            other.shutdownTestKit();
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, mode = EnumSource.Mode.EXCLUDE, names = "TLS_TCP") // Needs certificates.
    void aSystemStartsOnEachTransport(Transport transport) throws SettingsException {
        ActorTestKit other = ActorTestKit.create(ClusterConfig.SYSTEM_NAME, config(transport));
        try {
            assertThat(other.system().address().getPort()).isPresent();
        } finally {
            other.shutdownTestKit();
        }
    }

    @Test
    void aLocalSystemHasTheBlockingDispatcherAndNoCluster() {
        ActorTestKit local = ActorTestKit.create("local", ClusterConfig.localConfig());
        try {
            assertThat(local.system()
                            .dispatchers()
                            .lookup(DispatcherSelector.fromConfig(ClusterConfig.BLOCKING_DISPATCHER)))
                    .isNotNull();
            assertThat(local.system().settings().config().getString("pekko.actor.provider"))
                    .isEqualTo("local");
        } finally {
            local.shutdownTestKit();
        }
    }

    /** Looks like {@link RolloutStatus}, which is no message by itself either. */
    private record RolloutStatusLookalike(long revision) {}

    private static Config config(Transport transport, SettingsFlag... more) throws SettingsException {
        List<SettingsFlag> flags = new ArrayList<>(List.of(
                new SettingsFlag("--port", "ullage.cluster.port", "0"),
                new SettingsFlag("--transport", "ullage.cluster.transport", transport.label())));
        flags.addAll(List.of(more));
        return ClusterConfig.toPekkoConfig(
                SettingsLoader.load(Optional.empty(), flags, Map.of("HOME", "/home/a")),
                Set.of(ClusterConfig.WORKER_ROLE));
    }
}
