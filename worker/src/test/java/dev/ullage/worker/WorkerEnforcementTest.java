package dev.ullage.worker;

import static dev.ullage.common.testing.Eventually.eventually;
import static dev.ullage.common.testing.Fixtures.limits;
import static dev.ullage.common.testing.Fixtures.token;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.typesafe.config.ConfigFactory;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankEnforcement.WhyNot;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.protocol.ToWorker.DesireLimits;
import dev.ullage.common.protocol.ToWorker.RankLimit;
import dev.ullage.common.testing.Requires;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.WatchSettings;
import dev.ullage.config.WorkerSettings;
import dev.ullage.worker.probe.FakeNvml;
import dev.ullage.worker.probe.NvmlProbe;
import dev.ullage.worker.ranks.RankClient;
import dev.ullage.worker.ranks.RankSessions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A whole worker and a rank's real process: a library in HAMi-core's place is preloaded into it, the driver is a
 * library without a GPU, the test speaks for the rank's client and for the coordinator.
 */
class WorkerEnforcementTest {
    private static final NodeId NODE = new NodeId("node-a");
    private static final DeviceId DEVICE = new DeviceId(FakeNvml.uuid(0));
    private static final long GIB = 1L << 30;

    private final ActorTestKit kit =
            ActorTestKit.create(ClusterConfig.localConfig().withFallback(ConfigFactory.load()));
    private final TestProbe<ToCoordinator> coordinator = kit.createTestProbe();
    private Path folder;
    private FakeNvml nvml;
    private Process rank;
    private WorkerRuntime worker;

    @BeforeEach
    void startARankAndItsWorker(@TempDir Path temporary) throws Exception {
        Requires.command("gcc", "gcc");
        folder = temporary;
        Path library = folder.resolve("libvgpu.so");
        Process compiler = new ProcessBuilder(List.of(
                        "gcc", "-shared", "-fPIC", "-o", library.toString(), "src/test/c/fake_hami.c", "-lpthread"))
                .inheritIO()
                .start();
        assertThat(compiler.waitFor()).isZero();
        ProcessBuilder sleep = new ProcessBuilder("sleep", "600");
        sleep.environment().remove("CUDA_VISIBLE_DEVICES");
        sleep.environment()
                .putAll(Map.of(
                        "LD_PRELOAD", library.toString(),
                        "CUDA_DEVICE_MEMORY_SHARED_CACHE",
                                folder.resolve("region").toString(),
                        "FAKE_HAMI_UUIDS", DEVICE.value()));
        rank = sleep.start();
        eventually("the region is set up", () -> !seen().isEmpty());
        nvml = FakeNvml.compile(folder).withDevices(1).with("device.0.compute", rank.pid() + ":" + GIB);
        worker = WorkerRuntime.start(setup(), Clock.systemUTC());
    }

    @AfterEach
    void stop() throws InterruptedException {
        if (worker != null) {
            worker.close();
        }
        if (rank != null) {
            rank.destroyForcibly().waitFor();
        }
        kit.shutdownTestKit();
    }

    private WorkerRuntime.Setup setup() throws Exception {
        WorkerSettings.Enforcement enforcement = new WorkerSettings.Enforcement(
                MemoryBytes.ofMebibytes(512), MemoryBytes.ofMebibytes(64), 3, WorkerSettings.Enforcement.Driver.OFF);
        WorkerSettings settings = new WorkerSettings(
                new WorkerSettings.Devices(Optional.empty(), Optional.empty(), Optional.empty()),
                Duration.ofMillis(50),
                Duration.ofMillis(50),
                Duration.ofSeconds(60),
                Duration.ofMillis(50),
                8,
                Duration.ofSeconds(5),
                WatchSettings.defaults(),
                enforcement,
                WorkerSettings.Host.MEASURED);
        return new WorkerRuntime.Setup(
                NODE,
                folder.resolve("s"),
                folder.resolve("locks"),
                settings,
                Share.ofPercent(20),
                new WorkerRuntime.Devices(NvmlProbe.open(nvml.path()), new NoListener()),
                () -> {});
    }

    private static final class NoListener implements RankSessions.UseListener {
        @Override
        public void used(DeviceId device, RankSample sample) {
            // The driver tells.
        }

        @Override
        public void gone(long pid) {
            // The driver tells.
        }
    }

    private List<String> seen() {
        try {
            Path file = folder.resolve("region.seen");
            return Files.exists(file) ? Files.readAllLines(file) : List.of();
        } catch (IOException e) {
            return List.of();
        }
    }

    private <T extends ToCoordinator> T await(Class<T> kind, Predicate<T> when) {
        return kind.cast(coordinator
                .fishForMessage(
                        Duration.ofSeconds(20),
                        message -> kind.isInstance(message) && when.test(kind.cast(message))
                                ? FishingOutcomes.complete()
                                : FishingOutcomes.continueAndIgnore())
                .get(0));
    }

    private RankEnforcement awaitHeld(EnforcedBy rung, Predicate<RankEnforcement> when) {
        Predicate<RankSample> held = said ->
                said.enforcedBy() == rung && said.enforcement().filter(when).isPresent();
        return await(DeviceSampled.class, sampled -> sampled.ranks().stream().anyMatch(held))
                .ranks()
                .get(0)
                .enforcement()
                .orElseThrow();
    }

    private static String confirm(long sequence, long gibibytes) {
        return "{\"type\":\"confirm\",\"sequence\":" + sequence + ",\"limitBytes\":" + gibibytes * GIB
                + ",\"enforcedBy\":\"advisory\"}";
    }

    @Test
    void aRankWithHamiCoreIsHeldLiveMeasuredAndAnAlarmIsRaisedAboveItsCeiling() throws Exception {
        kit.spawn(CoordinatorLink.create(worker.hub(), coordinator.getRef()));
        ActorRef<ToWorker> link =
                await(WorkerAnnounced.class, announced -> true).replyTo();
        try (RankClient client = RankClient.connect(worker.socket())) {
            client.say(RankClient.hello(0, rank.pid(), ""));
            client.hear();
            RankInstance instance = await(
                            LimitsReported.class,
                            report -> !report.ledger().grants().isEmpty())
                    .ledger()
                    .grants()
                    .get(0)
                    .instance();

            plan(link, 1, instance, 4);
            JsonNode first = client.hear();
            assertThat(first.path("overheadProvisional").booleanValue()).isTrue();
            client.say(confirm(1, 4));
            RankEnforcement how =
                    awaitHeld(EnforcedBy.HAMI_CORE, found -> found.inForce().equals(bytes(4)));
            assertThat(how.whyNotHigher()).extracting(WhyNot::rung).containsExactly(EnforcedBy.DRIVER);
            assertThat(how.processUsed()).isEqualTo(bytes(1));
            eventually("the process sees it", () -> seen().contains(Long.toString(4 * GIB)));

            // More is told only once the region allows it.
            plan(link, 2, instance, 8);
            assertThat(client.hear().path("sequence").longValue()).isEqualTo(2);
            eventually("the process sees more", () -> seen().contains(Long.toString(8 * GIB)));
            client.say(confirm(2, 8));

            measureTheOverhead(client);

            nvml.with("device.0.compute", rank.pid() + ":" + 9 * GIB);
            DeviceSampled alarm = await(DeviceSampled.class, sampled -> sampled.problems().stream()
                    .anyMatch(problem -> problem.contains("more than its ceiling")));
            assertThat(alarm.ranks().get(0).enforcement().orElseThrow().overCeiling())
                    .isTrue();
            nvml.with("device.0.compute", rank.pid() + ":" + GIB);
            awaitHeld(EnforcedBy.HAMI_CORE, found -> !found.overCeiling());
        }
    }

    private static Optional<MemoryBytes> bytes(long gibibytes) {
        return Optional.of(MemoryBytes.ofGibibytes(gibibytes));
    }

    /** The process uses 1 GiB, of which its framework says it reserved a half. */
    private void measureTheOverhead(RankClient client) throws IOException {
        client.say("{\"type\":\"phase\",\"phase\":\"FORWARD\"}");
        eventually("an order with the measured overhead", () -> {
            try {
                client.say("{\"type\":\"usage\",\"reservedBytes\":" + (GIB / 2 + (100 << 20)) + "}");
                await(DeviceSampled.class, sampled -> true);
                return !client.hearsNothing();
            } catch (IOException e) {
                return false;
            }
        });
        JsonNode order = client.hear();
        assertThat(order.path("sequence").longValue()).isEqualTo(2);
        assertThat(order.path("overheadProvisional").booleanValue()).isFalse();
        // 412 MiB, in steps of 16.
        assertThat(order.path("overheadBytes").longValue()).isEqualTo(416L << 20);
    }

    private void plan(ActorRef<ToWorker> link, long revision, RankInstance instance, long gibibytes) {
        RankLimit limit = new RankLimit(instance, limits(MemoryBytes.ofGibibytes(gibibytes)), Share.ALL);
        link.tell(new DesireLimits(
                token(1),
                revision,
                DEVICE,
                Share.ofPercent(20),
                List.of(limit),
                Optional.empty(),
                coordinator.getRef()));
    }
}
