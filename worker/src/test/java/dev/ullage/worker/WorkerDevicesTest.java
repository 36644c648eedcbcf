package dev.ullage.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.ConfigFactory;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.WorkerSettings;
import dev.ullage.worker.ranks.RankClient;
import dev.ullage.worker.ranks.RankSessions;
import dev.ullage.worker.testing.LogWatch;
import dev.ullage.worker.testing.ScriptedProbe;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A whole worker while devices come, go and hang. */
class WorkerDevicesTest {
    private static final ActorTestKit KIT =
            ActorTestKit.create(ClusterConfig.localConfig().withFallback(ConfigFactory.load()));
    private static final DeviceId FIRST = new DeviceId("GPU-1");
    private static final DeviceId SECOND = new DeviceId("GPU-2");

    @RegisterExtension
    final LogWatch log = new LogWatch();

    private final ScriptedProbe probe = new ScriptedProbe(FIRST.value());
    private final TestProbe<ToCoordinator> coordinator = KIT.createTestProbe();
    private Optional<WorkerRuntime> running = Optional.empty();
    private Path folder;

    @BeforeEach
    void aFolder(@TempDir Path temporary) {
        folder = temporary;
    }

    @AfterEach
    void stopTheWorker() {
        probe.release(FIRST.value());
        running.ifPresent(WorkerRuntime::close);
    }

    @AfterAll
    static void stopTheKit() {
        KIT.shutdownTestKit();
    }

    /** Nobody needs to be told what is used on these. */
    private static final class Ignoring implements RankSessions.UseListener {
        @Override
        public void used(DeviceId device, RankSample sample) {
            // Not needed.
        }

        @Override
        public void gone(long pid) {
            // Not needed.
        }
    }

    private WorkerRuntime start() throws WorkerStartException {
        WorkerSettings settings = new WorkerSettings(
                new WorkerSettings.Devices(Optional.empty(), Optional.empty(), Optional.empty()),
                Duration.ofMillis(20),
                Duration.ofMillis(50),
                Duration.ofMillis(200),
                Duration.ofMillis(50),
                8,
                WorkerSettings.Enforcement.DEFAULTS);
        WorkerRuntime runtime = WorkerRuntime.start(
                new WorkerRuntime.Setup(
                        new NodeId("node-a"),
                        folder.resolve("s"),
                        folder.resolve("locks"),
                        settings,
                        Share.ofPercent(20),
                        new WorkerRuntime.Devices(probe, new Ignoring()),
                        () -> {}),
                Clock.systemUTC());
        running = Optional.of(runtime);
        KIT.spawn(CoordinatorLink.create(runtime.hub(), coordinator.getRef()));
        return runtime;
    }

    private <T extends ToCoordinator> T await(Class<T> kind, Predicate<T> when) {
        List<ToCoordinator> seen = coordinator.fishForMessage(
                Duration.ofSeconds(20),
                message -> kind.isInstance(message) && when.test(kind.cast(message))
                        ? FishingOutcomes.complete()
                        : FishingOutcomes.continueAndIgnore());
        return kind.cast(seen.get(seen.size() - 1));
    }

    private static List<DeviceId> ids(WorkerAnnounced announced) {
        return announced.devices().stream().map(DeviceInfo::id).toList();
    }

    @Test
    void aDeviceThatComesLaterIsAnnouncedHasALedgerAndTakesRanks() throws Exception {
        WorkerRuntime runtime = start();
        probe.becomes(FIRST.value(), SECOND.value());

        await(WorkerAnnounced.class, announced -> ids(announced).equals(List.of(FIRST, SECOND)));
        LimitsReported report =
                await(LimitsReported.class, limits -> limits.device().equals(SECOND));
        assertThat(report.ledger().inForce().allocatable()).isEqualTo(MemoryBytes.ofGibibytes(100));

        long pid = ProcessHandle.current().pid();
        try (RankClient client = RankClient.connect(runtime.socket())) {
            client.say(RankClient.hello(0, pid, ",\"device\":\"GPU-2\""));
            assertThat(client.hear().path("type").textValue()).isEqualTo("welcome");
            await(
                    LimitsReported.class,
                    limits -> limits.device().equals(SECOND)
                            && limits.ledger().grants().size() == 1);
        }
    }

    @Test
    void aDeviceThatVanishesKeepsItsGrantsUntilTheProcessesEndAndIsStillShown() throws Exception {
        log.expectError("device=GPU-1");
        WorkerRuntime runtime = start();
        Process process = new ProcessBuilder("sleep", "60").start();
        try (RankClient client = RankClient.connect(runtime.socket())) {
            client.say(RankClient.hello(0, process.pid(), ""));
            client.hear();
            RankInstance instance = await(
                            LimitsReported.class,
                            limits -> !limits.ledger().grants().isEmpty())
                    .ledger()
                    .grants()
                    .get(0)
                    .instance();

            probe.becomes(SECOND.value());

            DeviceSampled sample = await(
                    DeviceSampled.class,
                    sampled ->
                            sampled.device().equals(FIRST) && sampled.problems().contains("not listed"));
            assertThat(sample.memory()).isPresent();
            await(WorkerAnnounced.class, announced -> ids(announced).equals(List.of(FIRST, SECOND)));
            LimitsReported report =
                    await(LimitsReported.class, limits -> limits.device().equals(FIRST));
            assertThat(report.ledger().grants().get(0).instance()).isEqualTo(instance);
        } finally {
            process.destroyForcibly().waitFor();
        }
        await(
                LimitsReported.class,
                limits -> limits.device().equals(FIRST)
                        && limits.ledger().grants().isEmpty());
    }

    @Test
    void aDeviceThatHangsIsReportedWithItsAgeWhileRanksAreServed() throws Exception {
        WorkerRuntime runtime = start();
        await(DeviceSampled.class, sampled -> sampled.memory().isPresent());
        probe.hang(FIRST.value());

        DeviceWatched watched =
                await(DeviceWatched.class, device -> device.quality().state() == SampleState.STALE);
        DeviceSampled sample = await(DeviceSampled.class, sampled -> sampled.ageMillis() > 1_000);

        assertThat(watched.quality().lostSamples()).isPositive();
        assertThat(sample.memory()).isPresent();
        try (RankClient client = RankClient.connect(runtime.socket())) {
            client.say(RankClient.hello(0, ProcessHandle.current().pid(), ""));
            assertThat(client.hear().path("type").textValue()).isEqualTo("welcome");
        }
        probe.release(FIRST.value());
        await(DeviceWatched.class, device -> device.quality().state() == SampleState.FRESH);
    }
}
