package dev.ullage.worker;

import static dev.ullage.common.testing.Eventually.eventually;
import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.limits;
import static dev.ullage.common.testing.Fixtures.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.typesafe.config.ConfigFactory;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.model.Share;
import dev.ullage.common.model.SimulatedSpec;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.ReservationRefused;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.protocol.ToWorker.CommitDevice;
import dev.ullage.common.protocol.ToWorker.DesireLimits;
import dev.ullage.common.protocol.ToWorker.RankLimit;
import dev.ullage.common.protocol.ToWorker.ReleaseDevice;
import dev.ullage.common.protocol.ToWorker.ReserveDevice;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.WorkerSettings;
import dev.ullage.worker.WorkerStartException.Kind;
import dev.ullage.worker.probe.SimulatedProbe;
import dev.ullage.worker.ranks.RankClient;
import dev.ullage.worker.ranks.RankSessions;
import dev.ullage.worker.testing.LogWatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A whole worker on one simulated device of 100 GiB, the test in the place of the coordinator. */
class WorkerRuntimeTest {
    private static final ActorTestKit KIT =
            ActorTestKit.create(ClusterConfig.localConfig().withFallback(ConfigFactory.load()));
    private static final NodeId NODE = new NodeId("node-a");

    @RegisterExtension
    final LogWatch log = new LogWatch();

    private final SimulatedProbe probe = SimulatedProbe.create(NODE, SimulatedSpec.parse("SIM-100G"));
    private final DeviceId device = probe.devices().get(0).id();
    private final AtomicInteger keepersLost = new AtomicInteger();
    private final TestProbe<ToCoordinator> coordinator = KIT.createTestProbe();
    private Path folder;
    private Optional<WorkerRuntime> running = Optional.empty();

    @BeforeEach
    void aFolder(@TempDir Path temporary) {
        folder = temporary;
    }

    @AfterEach
    void stopTheWorker() {
        running.ifPresent(WorkerRuntime::close);
        assertThat(keepersLost).hasValue(0);
    }

    @AfterAll
    static void stopTheKit() {
        KIT.shutdownTestKit();
    }

    private WorkerRuntime.Setup setup(Path stateDir) {
        WorkerSettings settings = new WorkerSettings(
                new WorkerSettings.Devices(Optional.empty(), Optional.empty(), Optional.empty()),
                Duration.ofMillis(50),
                Duration.ofMillis(50),
                Duration.ofMillis(200),
                Duration.ofMillis(50),
                8,
                Duration.ofSeconds(5));
        return new WorkerRuntime.Setup(
                NODE,
                stateDir,
                stateDir.resolveSibling("locks"),
                settings,
                Share.ofPercent(20),
                new WorkerRuntime.Devices(probe, new ChargingListener()),
                keepersLost::incrementAndGet);
    }

    /** Charges a simulated device with what ranks say they hold. */
    private final class ChargingListener implements RankSessions.UseListener {
        @Override
        public void used(DeviceId on, RankSample sample) {
            sample.use()
                    .held()
                    .ifPresent(held -> probe.charge(on, sample.instance().pid(), held));
        }

        @Override
        public void gone(long pid) {
            probe.discharge(pid);
        }
    }

    private WorkerRuntime start() throws WorkerStartException {
        WorkerRuntime runtime = WorkerRuntime.start(setup(folder.resolve("s")), Clock.systemUTC());
        running = Optional.of(runtime);
        return runtime;
    }

    private void stop() {
        running.orElseThrow().close();
        running = Optional.empty();
    }

    /** Becomes the worker's coordinator and returns where the worker is reached. */
    private ActorRef<ToWorker> link(WorkerRuntime runtime) {
        KIT.spawn(CoordinatorLink.create(runtime.hub(), coordinator.getRef()));
        return await(WorkerAnnounced.class, announced -> true).replyTo();
    }

    private <T extends ToCoordinator> T await(Class<T> kind, Predicate<T> when) {
        return kind.cast(coordinator
                .fishForMessage(
                        Duration.ofSeconds(10),
                        message -> kind.isInstance(message) && when.test(kind.cast(message))
                                ? org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes.complete()
                                : org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes.continueAndIgnore())
                .get(0));
    }

    private GrantReport awaitGrant(Predicate<GrantReport> when) {
        return await(LimitsReported.class, report -> report.ledger().grants().stream()
                        .anyMatch(when))
                .ledger()
                .grants()
                .get(0);
    }

    private void plan(ActorRef<ToWorker> worker, long revision, RankInstance instance, long gibibytes) {
        RankLimit limit = new RankLimit(instance, limits(gib(gibibytes)), Share.ALL);
        worker.tell(new DesireLimits(
                token(1),
                revision,
                device,
                Share.ofPercent(20),
                List.of(limit),
                Optional.empty(),
                coordinator.getRef()));
    }

    private WorkerStartException refused(Path stateDir) {
        return catchThrowableOfType(
                WorkerStartException.class, () -> WorkerRuntime.start(setup(stateDir), Clock.systemUTC()));
    }

    private static boolean someThreadIsNamed(String part) {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().contains(part));
    }

    @Test
    void aRankIsWelcomedAndLimitedAndReportedToTheCoordinator() throws Exception {
        WorkerRuntime runtime = start();
        ActorRef<ToWorker> worker = link(runtime);
        long pid = ProcessHandle.current().pid();
        try (RankClient client = RankClient.connect(runtime.socket())) {
            client.say(RankClient.hello(0, pid, ""));
            assertThat(client.hear().path("deviceTotalBytes").longValue()).isEqualTo(100L << 30);
            RankInstance instance = awaitGrant(grant -> true).instance();

            plan(worker, 1, instance, 30);

            JsonNode order = client.hear();
            assertThat(order.path("limitBytes").path("FORWARD").longValue()).isEqualTo(30L << 30);
            client.say("{\"type\":\"confirm\",\"sequence\":" + order.path("sequence") + ",\"limitBytes\":" + (30L << 30)
                    + ",\"enforcedBy\":\"torch\"}");
            GrantReport confirmed = awaitGrant(grant -> grant.confirmedSequence() == 1);
            assertThat(confirmed.ceiling()).isEqualTo(gib(30));
            assertThat(confirmed.isSettled()).isTrue();
        }
    }

    @Test
    void whatARankHoldsIsNotForeignAndWhatAStrangerHoldsIs() throws Exception {
        WorkerRuntime runtime = start();
        link(runtime);
        probe.setForeign(device, 999_999_999, gib(3));
        try (RankClient client = RankClient.connect(runtime.socket())) {
            client.say(RankClient.hello(0, ProcessHandle.current().pid(), ""));
            client.hear();
            client.say("{\"type\":\"usage\",\"reservedBytes\":" + (5L << 30) + "}");

            DeviceSampled sampled = await(
                    DeviceSampled.class,
                    sample -> sample.memory().orElseThrow().used().equals(gib(8)));

            assertThat(sampled.foreign()).contains(gib(3));
            assertThat(sampled.ranks()).hasSize(1);
            await(
                    LimitsReported.class,
                    report -> report.ledger().inForce().foreign().equals(gib(3)));
        }
    }

    @Test
    void aSecondWorkerOnTheSameFolderIsRefusedAndTheFirstGoesOn() throws Exception {
        WorkerRuntime runtime = start();

        WorkerStartException refusal = refused(folder.resolve("s"));

        assertThat(refusal.kind()).isEqualTo(Kind.DEVICE_ALREADY_OWNED);
        assertThat(refusal)
                .hasMessage("another worker uses the state folder " + folder.resolve("s")
                        + "; stop it, or give this one a folder of its own with --state");
        try (RankClient client = RankClient.connect(runtime.socket())) {
            client.say(RankClient.hello(0, ProcessHandle.current().pid(), ""));
            assertThat(client.hear().path("type").textValue()).isEqualTo("welcome");
        }
    }

    @Test
    void aFolderThatCannotBeMadeIsUnusable() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "x");

        assertThat(refused(file).kind()).isEqualTo(Kind.STATE_UNUSABLE);
        assertThat(refused(file.resolve("below")).kind()).isEqualTo(Kind.STATE_UNUSABLE);
        assertThat(refused(file)).hasMessageStartingWith("cannot write " + file + ": ");
    }

    @Test
    void aCorruptLedgerIsRefusedAndItsLockGivenUp() throws Exception {
        start();
        stop();
        Path ledger = folder.resolve("s").resolve(device + ".ledger");
        byte[] bytes = Files.readAllBytes(ledger);
        bytes[9] ^= 1;
        Files.write(ledger, bytes);

        assertThat(refused(folder.resolve("s")))
                .hasMessageContaining("ledger file " + ledger + " is corrupt at byte 8: ");
        assertThat(refused(folder.resolve("s")).kind()).isEqualTo(Kind.STATE_UNUSABLE);

        Files.delete(ledger);
        start();
    }

    @Test
    void aLedgerOfAnotherDeviceIsRefusedAndItsLockGivenUp() throws Exception {
        start();
        stop();
        SimulatedProbe other = SimulatedProbe.create(new NodeId("node-b"), SimulatedSpec.parse("SIM-100G"));
        DeviceId otherDevice = other.devices().get(0).id();
        Path ledger = folder.resolve("s").resolve(device + ".ledger");
        Files.move(ledger, folder.resolve("kept"));
        WorkerRuntime.Setup setup = setup(folder.resolve("t"));
        WorkerRuntime.start(
                        new WorkerRuntime.Setup(
                                setup.node(),
                                setup.stateDir(),
                                setup.lockDir(),
                                setup.settings(),
                                setup.reserve(),
                                new WorkerRuntime.Devices(other, new ChargingListener()),
                                setup.onLost()),
                        Clock.systemUTC())
                .close();
        Files.copy(folder.resolve("t").resolve(otherDevice + ".ledger"), ledger);

        assertThat(refused(folder.resolve("s")))
                .hasMessageContaining("the ledger of " + device + " is one of " + otherDevice);

        Files.delete(ledger);
        start();
    }

    @Test
    void aWorkerThatCannotOpenItsSocketLeavesNothingBehind() {
        Path tooLong = folder.resolve("x".repeat(110));

        WorkerStartException refusal = refused(tooLong);

        assertThat(refusal.kind()).isEqualTo(Kind.STATE_UNUSABLE);
        assertThat(refusal).hasMessageContaining("too long for a Unix socket");
        eventually("its threads end", () -> !someThreadIsNamed("ullage-worker"));
        assertThat(refused(tooLong)).hasMessageContaining("too long for a Unix socket");
    }

    @Test
    void afterARestartALiveProcessKeepsItsLimitAndItsMemoryIsNoStrangers() throws Exception {
        WorkerRuntime runtime = start();
        long pid = ProcessHandle.current().pid();
        String inForce;
        try (RankClient client = RankClient.connect(runtime.socket())) {
            ActorRef<ToWorker> worker = link(runtime);
            client.say(RankClient.hello(0, pid, ""));
            client.hear();
            plan(worker, 1, awaitGrant(grant -> true).instance(), 60);
            long sequence = client.hear().path("sequence").longValue();
            inForce = ",\"inForce\":{\"sequence\":" + sequence + ",\"limitBytes\":" + (60L << 30) + "}";
            client.say("{\"type\":\"usage\",\"reservedBytes\":" + (50L << 30) + "}");
            await(
                    DeviceSampled.class,
                    sample -> sample.memory().orElseThrow().used().equals(gib(50)));
        }

        stop();
        runtime = start();
        link(runtime);

        GrantReport replayed = awaitGrant(grant -> true);
        assertThat(replayed.ceiling()).isEqualTo(gib(60));
        try (RankClient client = RankClient.connect(runtime.socket())) {
            client.say(RankClient.hello(0, pid, inForce));
            assertThat(client.hear().path("type").textValue()).isEqualTo("welcome");
            assertThat(client.hear().path("limitBytes").path("INIT").longValue())
                    .isEqualTo(60L << 30);
            assertThat(awaitGrant(grant -> grant.confirmedSequence() == grant.sequence())
                            .ceiling())
                    .isEqualTo(gib(60));
        }
        LimitsReported last = await(LimitsReported.class, report -> true);
        assertThat(last.ledger().wanted().foreign()).isEqualTo(MemoryBytes.ZERO);
        assertThat(last.ledger().counts().overCommits()).isZero();
        assertThat(log.warnings()).noneMatch(warning -> warning.contains("OVER_BUDGET"));
    }

    @Test
    void theGrantOfAProcessThatDiedIsFreedAlsoWhenItDiedWhileNoWorkerRan() throws Exception {
        WorkerRuntime runtime = start();
        Process live = new ProcessBuilder("sleep", "60").start();
        Process dying = new ProcessBuilder("sleep", "60").start();
        try (RankClient first = RankClient.connect(runtime.socket());
                RankClient second = RankClient.connect(runtime.socket())) {
            link(runtime);
            first.say(RankClient.hello(0, live.pid(), ""));
            second.say(RankClient.hello(1, dying.pid(), ""));
            await(LimitsReported.class, report -> report.ledger().grants().size() == 2);
            stop();
            dying.destroyForcibly().waitFor();

            link(start());
            await(LimitsReported.class, report -> report.ledger().grants().size() == 1);
            live.destroyForcibly().waitFor();
            await(LimitsReported.class, report -> report.ledger().grants().isEmpty());
        } finally {
            live.destroyForcibly();
            dying.destroyForcibly();
        }
    }

    @Test
    void closingGivesUpTheSocketTheLocksAndTheThreads() throws Exception {
        Path socket = start().socket();

        stop();

        assertThat(socket).doesNotExist();
        eventually("its threads end", () -> !someThreadIsNamed("ullage-worker") && !someThreadIsNamed("rank-socket"));
        start();
    }

    @Test
    void aReservationReachesItsDeviceAndOneOfAnotherWorkersDeviceIsRefused() throws Exception {
        ActorRef<ToWorker> worker = link(start());
        Reservation gang = new Reservation(
                new ReservationId(new JobId("gang"), token(1), 1),
                Priority.HIGH,
                List.of(new ReservedPart(new NodeId("node-a"), device, gib(1), 1)));
        DeviceId elsewhere = new DeviceId("GPU-elsewhere");

        worker.tell(new ReserveDevice(token(1), device, gang, coordinator.getRef()));
        await(LimitsReported.class, report -> kept(report).equals(List.of(new ReservationReport(gang, false))));
        worker.tell(new CommitDevice(token(1), device, gang.id(), coordinator.getRef()));
        await(LimitsReported.class, report -> kept(report).equals(List.of(new ReservationReport(gang, true))));
        worker.tell(new CommitDevice(token(1), elsewhere, gang.id(), coordinator.getRef()));
        assertThat(await(ReservationRefused.class, refused -> true).reason())
                .isEqualTo("refused reservation " + gang.id() + " on GPU-elsewhere: this worker owns [" + device + "]");
        worker.tell(new ReleaseDevice(token(1), device, gang.id(), coordinator.getRef()));
        await(LimitsReported.class, report -> kept(report).isEmpty());
    }

    private static List<ReservationReport> kept(LimitsReported report) {
        return report.ledger().reservations().orElseThrow();
    }
}
