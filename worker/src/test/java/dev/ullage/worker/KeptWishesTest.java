package dev.ullage.worker;

import static dev.ullage.common.testing.Eventually.eventually;
import static dev.ullage.common.testing.Fixtures.token;
import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.ConfigFactory;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Share;
import dev.ullage.common.model.SimulatedSpec;
import dev.ullage.common.protocol.OperatorRecord;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.common.protocol.OperatorRecord.Stamp;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.WishesReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.protocol.ToWorker.KeepWishes;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.WorkerSettings;
import dev.ullage.worker.probe.SimulatedProbe;
import dev.ullage.worker.ranks.RankSessions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A whole worker keeps what operators asked for, the test in the place of the coordinators. */
class KeptWishesTest {
    private static final NodeId NODE = new NodeId("node-a");

    private final ActorTestKit kit =
            ActorTestKit.create(ClusterConfig.localConfig().withFallback(ConfigFactory.load()));
    private final TestProbe<ToCoordinator> coordinator = kit.createTestProbe();

    @TempDir
    private Path folder;

    @AfterEach
    void stopTheKit() {
        kit.shutdownTestKit();
    }

    private WorkerRuntime start() throws WorkerStartException {
        WorkerSettings settings = new WorkerSettings(
                new WorkerSettings.Devices(Optional.empty(), Optional.empty(), Optional.empty()),
                Duration.ofMillis(50),
                Duration.ofMillis(50),
                Duration.ofMillis(200),
                Duration.ofMillis(50),
                8,
                Duration.ofSeconds(5));
        return WorkerRuntime.start(
                new WorkerRuntime.Setup(
                        NODE,
                        folder.resolve("s"),
                        folder.resolve("locks"),
                        settings,
                        Share.ofPercent(20),
                        new WorkerRuntime.Devices(
                                SimulatedProbe.create(NODE, SimulatedSpec.parse("SIM-100G")), new NoListener()),
                        () -> {}),
                Clock.systemUTC());
    }

    private static final class NoListener implements RankSessions.UseListener {
        @Override
        public void used(DeviceId device, RankSample sample) {
            // No rank starts here.
        }

        @Override
        public void gone(long pid) {
            // No rank starts here.
        }
    }

    private static OperatorRecord record(long epoch, long sequence) {
        Drain drain = new Drain(NODE, sequence, Optional.empty(), Optional.empty());
        return new OperatorRecord(new Stamp(token(epoch), sequence), List.of(drain), List.of());
    }

    private ActorRef<ToWorker> link(WorkerRuntime runtime) {
        kit.spawn(CoordinatorLink.create(runtime.hub(), coordinator.getRef()));
        return await(WorkerAnnounced.class).replyTo();
    }

    private <T extends ToCoordinator> T await(Class<T> kind) {
        return kind.cast(coordinator
                .fishForMessage(
                        Duration.ofSeconds(10),
                        message -> kind.isInstance(message)
                                ? FishingOutcomes.complete()
                                : FishingOutcomes.continueAndIgnore())
                .get(0));
    }

    private void awaitHeld(Optional<Stamp> stamp) {
        eventually("holds " + stamp, () -> await(WorkerAnnounced.class)
                .wishes()
                .orElseThrow()
                .stamp()
                .equals(stamp));
    }

    @Test
    void theNewestIsKeptAnnouncedToldAndSurvivesARestart() throws Exception {
        try (WorkerRuntime runtime = start()) {
            ActorRef<ToWorker> worker = link(runtime);
            awaitHeld(Optional.empty());
            worker.tell(new KeepWishes(token(2), record(2, 5)));
            awaitHeld(Optional.of(new Stamp(token(2), 5)));
            worker.tell(new KeepWishes(token(9), record(1, 6)));
            worker.tell(new LearnFrom(token(9), coordinator.getRef()));
            assertThat(await(WishesReported.class)).isEqualTo(new WishesReported(NODE, record(2, 5)));
            eventually("it is on disk", () -> Files.exists(folder.resolve("s").resolve(WishFile.NAME)));
        }

        try (WorkerRuntime runtime = start()) {
            ActorRef<ToWorker> worker = link(runtime);
            awaitHeld(Optional.of(new Stamp(token(2), 5)));
            worker.tell(new LearnFrom(token(9), coordinator.getRef()));
            assertThat(await(WishesReported.class)).isEqualTo(new WishesReported(NODE, record(2, 5)));
        }
    }
}
