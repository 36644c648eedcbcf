package dev.ullage.worker;

import com.typesafe.config.ConfigFactory;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.WorkerSettings;
import dev.ullage.worker.probe.GpuProbe;
import dev.ullage.worker.ranks.RankSessions;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;

/** A whole worker on the devices of a probe, and what it tells its coordinator. */
final class RunningWorker implements AutoCloseable {
    static final NodeId NODE = new NodeId("node-a");

    private static final Duration WITHIN = Duration.ofSeconds(30);

    private final ActorTestKit kit =
            ActorTestKit.create(ClusterConfig.localConfig().withFallback(ConfigFactory.load()));
    private final TestProbe<ToCoordinator> coordinator = kit.createTestProbe();
    private final WorkerRuntime runtime;

    private RunningWorker(WorkerRuntime runtime) {
        this.runtime = runtime;
        kit.spawn(CoordinatorLink.create(runtime.hub(), coordinator.getRef()));
    }

    /** @param folder for its state, and its locks */
    static RunningWorker on(GpuProbe probe, Path folder) throws WorkerStartException {
        WorkerSettings settings = new WorkerSettings(
                new WorkerSettings.Devices(Optional.empty(), Optional.empty(), Optional.empty()),
                Duration.ofMillis(20),
                Duration.ofMillis(50),
                Duration.ofMillis(200),
                Duration.ofMillis(50),
                8,
                Duration.ofSeconds(5));
        WorkerRuntime.Setup setup = new WorkerRuntime.Setup(
                NODE,
                folder.resolve("s"),
                folder.resolve("locks"),
                settings,
                Share.ofPercent(20),
                new WorkerRuntime.Devices(probe, new Ignoring()),
                () -> {});
        return new RunningWorker(WorkerRuntime.start(setup, Clock.systemUTC()));
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

    Path socket() {
        return runtime.socket();
    }

    /** Who the test is to the worker. */
    ActorRef<ToCoordinator> coordinator() {
        return coordinator.getRef();
    }

    /** Says something to it, once it has announced itself. */
    void tell(ToWorker message) {
        await(WorkerAnnounced.class).replyTo().tell(message);
    }

    /** The next of this kind that it tells. */
    <T extends ToCoordinator> T await(Class<T> kind) {
        return await(kind, any -> true);
    }

    /** The next of what it tells that is as described. */
    <T extends ToCoordinator> T await(Class<T> kind, Predicate<T> when) {
        List<ToCoordinator> seen = coordinator.fishForMessage(
                WITHIN,
                message -> kind.isInstance(message) && when.test(kind.cast(message))
                        ? FishingOutcomes.complete()
                        : FishingOutcomes.continueAndIgnore());
        return kind.cast(seen.get(seen.size() - 1));
    }

    @Override
    public void close() {
        runtime.close();
        kit.shutdownTestKit();
    }
}
