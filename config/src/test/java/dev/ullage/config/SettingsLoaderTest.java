package dev.ullage.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Share;
import dev.ullage.common.model.SimulatedSpec;
import dev.ullage.common.model.Weight;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsLoaderTest {
    private static final Map<String, String> HOME = Map.of("HOME", "/home/operator");

    /** Every setting, at a value that is not its default. */
    private static final String EVERYTHING =
            """
            ullage {
              node { name = "host-b", state-dir = "/var/lib/ullage" }
              cluster {
                transport = tls-tcp
                tls { certificate = "/tls/n.crt", key = "/tls/n.key", ca = "/tls/ca.crt" }
                host = 10.0.0.7
                port = 2552
                seed-nodes = ["10.0.0.1:25520", "[fd00::2]:25521"]
                majority-of = coordinators
                failover { stable-after = 2s, heartbeat-interval = 700ms, acceptable-heartbeat-pause = 3s }
              }
              http {
                host = "10.0.0.7", port = 8080, dcgm-aliases = on
                stream { interval = 2s, max-readers = 8, buffer = 4 }
                report { device-hour-price = "2.50", currency = EUR }
                tls { certificate = "/tls/h.crt", key = "/tls/h.key" }
                read-token-file = "/tls/read.token"
              }
              worker {
                devices { simulate = "2x80GiB", nvml-library = "/opt/libnvml.so", lock-dir = "/run/ullage" }
                sample-interval = 2s, tick = 100ms, resend-after = 3s, process-check = 250ms, max-ranks = 64
                turn-deadline = 90s
                watch { steps = 40, snapshot-steps = 0, snapshots = 3, release-from = 50%, release-below = 5% }
                enforcement { default-overhead = 1GiB, alarm-tolerance = 32MiB, alarm-after = 5, driver = off }
                host { cpus = 7.5, memory = 256GiB }
              }
              coordinator {
                tick = 100ms, claim-for = 2s, learn-for = 3s, stale-after = 10s, forget-after = 5m, stall-after = 1m
                resend-after = 4s
                evenness {
                  mode = on, every = 30s, looks = 5, uneven-from = 40%, gain-from = 15%, max-orders = 2
                }
                queue {
                  age = 2h, lease = 20s, idle-for = 40s, settle-for = 3s, max-requests = 50
                  weight { high = 8, medium = 3, low = 0.5 }
                }
                decision-log { enabled = off, max-bytes = 1MiB, files = 2 }
              }
              limits {
                reserve = 12.5%, minimum = 1GiB, dead-band = 0.05, policy = hybrid, turns = auto
                turn-needs = observed, turn-slack = 15%
                policies {
                  fixed.limit = 12GiB
                  priority-pool { model-size = 4GiB, base = 1GiB, priority = low, high = 2, medium = 1.25, low = 0.5 }
                  hybrid { until-step = 7, epochs = 3, steps-per-epoch = 100, ratio = 75% }
                  observed { slack = 5%, after-step = 20, predictor = priced }
                  planned { slack = 7%, after-step = 3 }
                }
                jobs {
                  "night.run" { policy = priority-pool, priority = high }
                  small { policy = fixed, limit = 25%, model-size = 2GiB, persistent = 1GiB, peak = 3GiB
                    burst-phases = [backward] }
                }
                phases {
                  init = 10%, forward = 20%, backward = 30%, optimizer = 40%, evaluation = 50%, checkpoint = 60%
                  idle = 70%
                }
              }
            }
            """;

    private final Path folder;

    SettingsLoaderTest(@TempDir Path folder) {
        this.folder = folder;
    }

    @Test
    void defaultsAreThoseOfTheReference() throws SettingsException {
        UllageSettings settings = SettingsLoader.load(Optional.empty(), List.of(), HOME);

        assertThat(settings.node().nodeName()).isEqualTo(HostName.of(Map.of()));
        assertThat(settings.node().stateDir()).isEqualTo(Path.of("/home/operator/.local/state/ullage"));
        assertThat(settings.cluster())
                .isEqualTo(new ClusterSettings(
                        Transport.TCP,
                        "127.0.0.1",
                        25_520,
                        List.of(),
                        MajorityOf.ALL,
                        FailoverSettings.FAST,
                        Optional.empty()));
        assertThat(settings.http()).isEqualTo(new HttpSettings("127.0.0.1", 7788, false));
        assertThat(settings.decisionLog()).isEqualTo(DecisionLogSettings.defaults());
        assertThat(settings.worker())
                .isEqualTo(new WorkerSettings(
                        new WorkerSettings.Devices(Optional.empty(), Optional.empty(), Optional.empty()),
                        Duration.ofSeconds(1),
                        Duration.ofMillis(250),
                        Duration.ofSeconds(1),
                        Duration.ofMillis(500),
                        1024,
                        Duration.ofMinutes(1)));
        assertThat(settings.coordinator()).isEqualTo(CoordinatorSettings.defaults());
        assertThat(settings.limits()).isEqualTo(LimitSettings.defaults());
    }

    @Test
    void everySettingOfNodeClusterAndHttpReachesItsField() throws Exception {
        UllageSettings settings = load(EVERYTHING);

        assertThat(settings.node()).isEqualTo(new NodeSettings("host-b", Path.of("/var/lib/ullage")));
        assertThat(settings.cluster())
                .isEqualTo(new ClusterSettings(
                        Transport.TLS_TCP,
                        "10.0.0.7",
                        2552,
                        List.of(new NodeAddress("10.0.0.1", 25_520), new NodeAddress("fd00::2", 25_521)),
                        MajorityOf.COORDINATORS,
                        new FailoverSettings(Duration.ofSeconds(2), Duration.ofMillis(700), Duration.ofSeconds(3)),
                        Optional.of(
                                new ClusterTls(Path.of("/tls/n.crt"), Path.of("/tls/n.key"), Path.of("/tls/ca.crt")))));
        assertThat(settings.http())
                .isEqualTo(new HttpSettings(
                        "10.0.0.7",
                        8080,
                        true,
                        new StreamSettings(Duration.ofSeconds(2), 8, 4),
                        new HttpAccess(
                                Optional.of(new HttpAccess.Tls(Path.of("/tls/h.crt"), Path.of("/tls/h.key"))),
                                Optional.of(Path.of("/tls/read.token"))),
                        new ReportSettings(Optional.of(2.5), "EUR")));
    }

    @Test
    void everySettingOfTheWorkerReachesItsField() throws Exception {
        UllageSettings settings = load(EVERYTHING);

        assertThat(settings.worker())
                .isEqualTo(new WorkerSettings(
                        new WorkerSettings.Devices(
                                Optional.of(SimulatedSpec.parse("2x80GiB")),
                                Optional.of(Path.of("/opt/libnvml.so")),
                                Optional.of(Path.of("/run/ullage"))),
                        Duration.ofSeconds(2),
                        Duration.ofMillis(100),
                        Duration.ofSeconds(3),
                        Duration.ofMillis(250),
                        64,
                        Duration.ofSeconds(90),
                        new WatchSettings(40, 0, 3, Share.ofPercent(50), Share.ofPercent(5)),
                        new WorkerSettings.Enforcement(
                                MemoryBytes.ofGibibytes(1),
                                MemoryBytes.ofMebibytes(32),
                                5,
                                WorkerSettings.Enforcement.Driver.OFF),
                        new WorkerSettings.Host(OptionalInt.of(7_500), Optional.of(MemoryBytes.ofGibibytes(256)))));
    }

    @Test
    void everySettingOfTheCoordinatorAndOfLimitsReachesItsField() throws Exception {
        UllageSettings settings = load(EVERYTHING);

        assertThat(settings.coordinator())
                .isEqualTo(new CoordinatorSettings(
                                Duration.ofMillis(100),
                                Duration.ofSeconds(2),
                                Duration.ofSeconds(3),
                                Duration.ofSeconds(10),
                                Duration.ofMinutes(5),
                                Duration.ofMinutes(1),
                                Duration.ofSeconds(4))
                        .with(new EvennessSettings(
                                EvennessSettings.Mode.ON,
                                Duration.ofSeconds(30),
                                5,
                                Share.ofPercent(40),
                                Share.ofPercent(15),
                                2))
                        .with(new QueueSettings(
                                new Weight(80_000),
                                new Weight(30_000),
                                new Weight(5_000),
                                Duration.ofHours(2),
                                Duration.ofSeconds(20),
                                Duration.ofSeconds(40),
                                Duration.ofSeconds(3),
                                50)));
        assertThat(settings.decisionLog()).isEqualTo(new DecisionLogSettings(false, MemoryBytes.ofMebibytes(1), 2));
        assertThat(settings.limits())
                .isEqualTo(new LimitSettings(
                        new Share(1250),
                        MemoryBytes.ofGibibytes(1),
                        Share.ofPercent(5),
                        new PhaseShares(
                                Share.ofPercent(10),
                                Share.ofPercent(20),
                                Share.ofPercent(30),
                                Share.ofPercent(40),
                                Share.ofPercent(50),
                                Share.ofPercent(60),
                                Share.ofPercent(70)),
                        settings.limits().policies(),
                        TurnMode.AUTO,
                        new TurnNeedSettings(TurnNeedSettings.Source.OBSERVED, Share.ofPercent(15))));
    }

    @Test
    void epochsNeedNoStepsPerEpochWhereTheRankReportsThem() throws Exception {
        assertThat(load("ullage.limits.policies.hybrid.epochs = 2")
                        .limits()
                        .policies()
                        .hybrid())
                .isEqualTo(new PolicySettings.Hybrid(OptionalLong.empty(), OptionalLong.of(2), Share.ofPercent(80)));
    }

    @Test
    void everyParameterOfAPolicyReachesItsField() throws Exception {
        Optional<MemoryBytes> modelSize = Optional.of(MemoryBytes.ofGibibytes(4));
        FixedLimit fixed = FixedLimit.of(MemoryBytes.ofGibibytes(12));

        assertThat(load(EVERYTHING).limits().policies())
                .isEqualTo(new PolicySettings(
                        new JobTerms(PolicyName.HYBRID, Priority.LOW, modelSize, fixed),
                        new TreeMap<>(Map.of(
                                new JobId("night.run"),
                                new JobTerms(PolicyName.PRIORITY_POOL, Priority.HIGH, modelSize, fixed),
                                new JobId("small"),
                                new JobTerms(
                                        PolicyName.FIXED,
                                        Priority.LOW,
                                        Optional.of(MemoryBytes.ofGibibytes(2)),
                                        FixedLimit.of(Share.ofPercent(25)),
                                        Optional.of(new BurstNeed(
                                                MemoryBytes.ofGibibytes(1),
                                                MemoryBytes.ofGibibytes(3),
                                                List.of(Phase.BACKWARD)))))),
                        new PolicySettings.PriorityPool(
                                MemoryBytes.ofGibibytes(1), new Weight(20_000), new Weight(12_500), new Weight(5_000)),
                        new PolicySettings.Hybrid(OptionalLong.of(300), OptionalLong.of(3), Share.ofPercent(75)),
                        new PolicySettings.Observed(Share.ofPercent(5), 20, ObservedPredictor.PRICED),
                        new PolicySettings.Planned(Share.ofPercent(7), 3)));
    }

    @ParameterizedTest
    @CsvSource({"12GiB, 12884901888", "1024, 1024", "25%, 25", "0.25, 25", "2500bp, 25"})
    void aFixedLimitIsAnAmountOrAShareOfTheDevice(String text, long bytesOfHundred) throws Exception {
        FixedLimit limit = load("ullage.limits.policies.fixed.limit = \"" + text + "\"")
                .limits()
                .policies()
                .anyJob()
                .limit();

        assertThat(limit.on(MemoryBytes.of(100)).value()).isEqualTo(bytesOfHundred);
    }

    @ParameterizedTest
    @CsvSource({"phase-max, PHASE_MAX", "priced, PRICED", "lstm, LSTM"})
    void eachPredictorHasItsName(String name, ObservedPredictor predictor) throws Exception {
        assertThat(load("ullage.limits.policies.observed.predictor = " + name)
                        .limits()
                        .policies()
                        .observed()
                        .predictor())
                .isEqualTo(predictor);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "1e9", "x", "1000000000"})
    void aPriceThatCannotBeIsRefused(String price) {
        assertThatThrownBy(() -> load("ullage.http.report.device-hour-price = \"" + price + "\""))
                .hasMessageContaining("ullage.http.report.device-hour-price")
                .hasMessageContaining("must be more than 0 and less than 1000000, as in 2.50, or empty");
    }

    @Test
    void noSettingIsLeftOutOfTheTestOfEverySetting() {
        Config reference = ConfigFactory.parseResources(SettingsLoader.class, "/reference.conf")
                .withOnlyPath("ullage");
        Config everything = ConfigFactory.parseString(EVERYTHING);

        assertThat(reference.entrySet()).isNotEmpty().allSatisfy(entry -> assertThat(
                        everything.getValue(entry.getKey()))
                .as(entry.getKey())
                .isNotEqualTo(entry.getValue()));
    }

    @Test
    void aFlagGoesBeforeTheFileAndTheFileBeforeTheDefaults() throws Exception {
        Path file = file("ullage { http.port = 8000, cluster.port = 3000 }");

        UllageSettings settings = SettingsLoader.load(
                Optional.of(file), List.of(new SettingsFlag("--port", "ullage.cluster.port", "4000")), HOME);

        assertThat(settings.http().port()).isEqualTo(8000);
        assertThat(settings.cluster().port()).isEqualTo(4000);
        assertThat(settings.worker().maxRanks()).isEqualTo(1024);
    }

    @Test
    void ofTwoFlagsForOneSettingTheLastCounts() throws SettingsException {
        UllageSettings settings = SettingsLoader.load(
                Optional.empty(),
                List.of(
                        new SettingsFlag("--port", "ullage.cluster.port", "4000"),
                        new SettingsFlag("--port", "ullage.cluster.port", "5000")),
                HOME);

        assertThat(settings.cluster().port()).isEqualTo(5000);
    }

    @Test
    void aFlagListsSeedNodesWithCommas() throws SettingsException {
        UllageSettings settings = SettingsLoader.load(
                Optional.empty(), List.of(new SettingsFlag("--join", "ullage.cluster.seed-nodes", "a:1, b:2")), HOME);

        assertThat(settings.cluster().seedNodes()).containsExactly(new NodeAddress("a", 1), new NodeAddress("b", 2));
    }

    @Test
    void theStateFolderFollowsTheBaseDirectoryRules() throws SettingsException {
        assertThat(stateDir(Map.of("XDG_STATE_HOME", "/state", "HOME", "/home/a")))
                .isEqualTo(Path.of("/state/ullage"));
        assertThat(stateDir(Map.of("XDG_STATE_HOME", "relative", "HOME", "/home/a")))
                .isEqualTo(Path.of("/home/a/.local/state/ullage"));
    }

    @Test
    void aFileReadsTheEnvironmentItIsGivenAndNoOther() throws Exception {
        Path file = file("ullage.cluster.host = ${ULLAGE_HOST}");

        UllageSettings settings =
                SettingsLoader.load(Optional.of(file), List.of(), Map.of("HOME", "/home/a", "ULLAGE_HOST", "10.1.2.3"));

        assertThat(settings.cluster().host()).isEqualTo("10.1.2.3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"local.conf", "cluster-tcp.conf", "cluster-tls.conf", "cluster-aeron.conf"})
    void everyExampleLoads(String name) throws SettingsException {
        Path example = Path.of("examples", name);

        UllageSettings settings = SettingsLoader.load(
                Optional.of(example), List.of(), Map.of("HOME", "/home/a", "ULLAGE_HOST", "10.0.0.1"));

        assertThat(ClusterConfig.toPekkoConfig(settings, Set.of(ClusterConfig.WORKER_ROLE))
                        .getStringList("pekko.cluster.seed-nodes"))
                .isNotEmpty();
    }

    private static Path stateDir(Map<String, String> environment) throws SettingsException {
        return SettingsLoader.load(Optional.empty(), List.of(), environment)
                .node()
                .stateDir();
    }

    private UllageSettings load(String text) throws IOException, SettingsException {
        return SettingsLoader.load(Optional.of(file(text)), List.of(), HOME);
    }

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("ullage.conf"), text);
    }
}
