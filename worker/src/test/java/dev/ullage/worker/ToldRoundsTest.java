package dev.ullage.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.ConfigFactory;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Share;
import dev.ullage.common.model.SimulatedSpec;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DevicesSampled;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import dev.ullage.common.protocol.ToWorker.Reads;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.WorkerSettings;
import dev.ullage.worker.probe.SimulatedProbe;
import dev.ullage.worker.ranks.RankSessions;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a whole worker of two devices tells of a round of readings, the test in the place of the coordinators. */
class ToldRoundsTest {
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
                                SimulatedProbe.create(NODE, SimulatedSpec.parse("2xSIM-100G")), new NoListener()),
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

    private <T extends ToCoordinator> T await(Class<T> kind) {
        return kind.cast(coordinator
                .fishForMessage(
                        Duration.ofSeconds(10),
                        message -> kind.isInstance(message)
                                ? FishingOutcomes.complete()
                                : FishingOutcomes.continueAndIgnore())
                .get(0));
    }

    private LearnFrom learn(long epoch, Optional<Reads> reads) {
        return new LearnFrom(new CoordinatorToken(epoch, "me"), coordinator.getRef(), reads);
    }

    @Test
    void roundsAreOneMessageForTheCoordinatorsThatReadThem() throws Exception {
        try (WorkerRuntime runtime = start()) {
            kit.spawn(CoordinatorLink.create(runtime.hub(), coordinator.getRef()));
            ActorRef<ToWorker> worker = await(WorkerAnnounced.class).replyTo();
            // Nobody has said yet that they are read.
            assertThat(await(DeviceSampled.class).memory()).isPresent();

            worker.tell(learn(1, Optional.of(new Reads(true))));
            assertThat(await(DevicesSampled.class).samples()).hasSize(2).allMatch(sample -> sample.memory()
                    .isPresent());

            // An older coordinator takes over.
            worker.tell(learn(2, Optional.empty()));
            assertThat(await(DeviceSampled.class).memory()).isPresent();
        }
    }
}
