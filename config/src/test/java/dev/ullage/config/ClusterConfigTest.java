package dev.ullage.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ClusterConfigTest {

    @Test
    void theFailoverTimingIsTheOneThatWasMeasured() throws SettingsException {
        Config config = pekkoConfig();

        assertThat(Map.of(
                        "stable", duration(config, "pekko.cluster.split-brain-resolver.stable-after"),
                        "heartbeat", duration(config, "pekko.cluster.failure-detector.heartbeat-interval"),
                        "pause", duration(config, "pekko.cluster.failure-detector.acceptable-heartbeat-pause"),
                        "leader", duration(config, "pekko.cluster.leader-actions-interval"),
                        "gossip", duration(config, "pekko.cluster.gossip-interval"),
                        "reaper", duration(config, "pekko.cluster.unreachable-nodes-reaper-interval"),
                        "hand-over", duration(config, "pekko.cluster.singleton.hand-over-retry-interval"),
                        "margin", duration(config, "pekko.cluster.down-removal-margin")))
                .isEqualTo(Map.of(
                        "stable", 1000L,
                        "heartbeat", 500L,
                        "pause", 1000L,
                        "leader", 200L,
                        "gossip", 500L,
                        "reaper", 200L,
                        "hand-over", 200L,
                        "margin", 200L));
    }

    @Test
    void aNodeWithoutSeedNodesIsItsOwn() throws SettingsException {
        assertThat(pekkoConfig().getStringList("pekko.cluster.seed-nodes"))
                .containsExactly("pekko://ullage@127.0.0.1:25520");
    }

    @Test
    void aNodeThatDoesNotKnowItsPortYetHasToJoinItself() throws SettingsException {
        UllageSettings settings = settings("ullage.cluster.port", "0");

        assertThat(ClusterConfig.mustJoinItself(settings.cluster())).isTrue();
        assertThat(ClusterConfig.toPekkoConfig(settings, Set.of()).getStringList("pekko.cluster.seed-nodes"))
                .isEmpty();
    }

    @Test
    void seedNodesBecomeAddressesOfTheSystem() throws SettingsException {
        assertThat(pekkoConfig("ullage.cluster.seed-nodes", "a:1,[fd00::2]:2")
                        .getStringList("pekko.cluster.seed-nodes"))
                .containsExactly("pekko://ullage@a:1", "pekko://ullage@[fd00::2]:2");
    }

    @Test
    void aMajorityIsCountedOverAllMembersUnlessCoordinatorsAreAskedFor() throws SettingsException {
        String role = "pekko.cluster.split-brain-resolver.keep-majority.role";

        assertThat(pekkoConfig().getString(role)).isEmpty();
        assertThat(pekkoConfig("ullage.cluster.majority-of", "coordinators").getString(role))
                .isEqualTo("coordinator");
        assertThat(pekkoConfig().getString("pekko.cluster.split-brain-resolver.active-strategy"))
                .isEqualTo("keep-majority");
    }

    @Test
    void addressTransportAndRolesAreThoseOfTheSettings() throws SettingsException {
        Config config = pekkoConfig("ullage.cluster.transport", "aeron-udp", "ullage.cluster.host", "10.0.0.7");

        assertThat(config.getString("pekko.remote.artery.transport")).isEqualTo("aeron-udp");
        assertThat(config.getString("pekko.remote.artery.canonical.hostname")).isEqualTo("10.0.0.7");
        assertThat(config.getInt("pekko.remote.artery.canonical.port")).isEqualTo(25_520);
        assertThat(config.getStringList("pekko.cluster.roles")).containsExactly("coordinator", "worker");
    }

    // That this makes connections that are encrypted, and to whom, is tested with real certificates (TlsIT).
    @Test
    void theTransportReadsTheFilesOfTheSettings() throws SettingsException {
        Config config = pekkoConfig(
                "ullage.cluster.transport", "tls-tcp",
                "ullage.cluster.tls.certificate", "/tls/n.crt",
                "ullage.cluster.tls.key", "/tls/n.key",
                "ullage.cluster.tls.ca", "/tls/ca.crt");
        Config engine = config.getConfig("pekko.remote.artery.ssl.rotating-keys-engine");

        assertThat(config.getString("pekko.remote.artery.transport")).isEqualTo("tls-tcp");
        assertThat(config.getString("pekko.remote.artery.ssl.ssl-engine-provider"))
                .endsWith(".RotatingKeysSSLEngineProvider");
        assertThat(engine.getString("cert-file")).isEqualTo("/tls/n.crt");
        assertThat(engine.getString("key-file")).isEqualTo("/tls/n.key");
        assertThat(engine.getString("ca-cert-file")).isEqualTo("/tls/ca.crt");
    }

    @Test
    void noSystemEndsTheProcessOrReadsJavaSerialization() throws SettingsException {
        for (Config config : List.of(pekkoConfig(), ClusterConfig.localConfig())) {
            assertThat(config.getBoolean("pekko.coordinated-shutdown.exit-jvm")).isFalse();
            assertThat(config.getBoolean("pekko.actor.allow-java-serialization"))
                    .isFalse();
            assertThat(config.getInt("pekko.log-dead-letters")).isEqualTo(10);
            assertThat(config.getInt(ClusterConfig.BLOCKING_DISPATCHER + ".thread-pool-executor.fixed-pool-size"))
                    .isEqualTo(4);
        }
    }

    @Test
    void aWorkersThreadsAreFewAndACoordinatorsAreMore() throws SettingsException {
        Config worker = ClusterConfig.toPekkoConfig(settings(), Set.of("worker"));

        for (Config quiet : List.of(worker, ClusterConfig.localConfig())) {
            assertThat(quiet.getInt("pekko.actor.default-dispatcher.thread-pool-executor.fixed-pool-size"))
                    .isEqualTo(1);
            assertThat(quiet.getString("pekko.actor.internal-dispatcher")).isEqualTo("pekko.actor.default-dispatcher");
        }
        // Were membership's the finer one, it would make a scheduler, and so a thread, of its own.
        assertThat(duration(worker, "pekko.scheduler.tick-duration"))
                .isEqualTo(100)
                .isEqualTo(duration(worker, "pekko.cluster.scheduler.tick-duration"));
        assertThat(worker.getString("pekko.cluster.downing-provider-class")).endsWith("SplitBrainResolverProvider");
        assertThat(pekkoConfig().getInt("pekko.actor.internal-dispatcher.fork-join-executor.parallelism-min"))
                .isEqualTo(4);
    }

    /** A newer Pekko may start something else with it that is needed, or begin to use what is left out. */
    @Test
    void ofWhatPekkoStartsInEveryNodeOnlyTheReceptionistIsLeftOut() throws SettingsException {
        String key = "pekko.actor.typed.library-extensions";
        assertThat(ConfigFactory.load().getStringList(key))
                .containsExactly("org.apache.pekko.actor.typed.receptionist.Receptionist$");
        assertThat(pekkoConfig().getStringList(key)).isEmpty();
    }

    @Test
    void aWorkersPaceIsAWholeNumberOfTicks() {
        assertThat(tick(10)).isEqualTo(10);
        assertThat(tick(50)).isEqualTo(50);
        assertThat(tick(75)).isEqualTo(75);
        assertThat(tick(100)).isEqualTo(100);
        assertThat(tick(130)).isEqualTo(65);
        assertThat(tick(250)).isEqualTo(125);
    }

    private static long tick(long paceMillis) {
        return duration(ClusterConfig.localConfig(Duration.ofMillis(paceMillis)), "pekko.scheduler.tick-duration");
    }

    private static long duration(Config config, String key) {
        return config.getDuration(key).toMillis();
    }

    private static Config pekkoConfig(String... keysAndValues) throws SettingsException {
        return ClusterConfig.toPekkoConfig(settings(keysAndValues), Set.of("worker", "coordinator"));
    }

    private static UllageSettings settings(String... keysAndValues) throws SettingsException {
        List<String> texts = Arrays.asList(keysAndValues);
        List<SettingsFlag> flags = java.util.stream.IntStream.range(0, texts.size() / 2)
                .mapToObj(i -> new SettingsFlag("--test", texts.get(2 * i), texts.get(2 * i + 1)))
                .toList();
        return SettingsLoader.load(Optional.empty(), flags, Map.of("HOME", "/home/a"));
    }
}
