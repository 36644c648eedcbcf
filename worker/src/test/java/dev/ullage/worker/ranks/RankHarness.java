package dev.ullage.worker.ranks;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Eventually.eventually;

import com.typesafe.config.ConfigFactory;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.testing.Fixtures;
import dev.ullage.common.testing.ScratchFolder;
import dev.ullage.common.testing.TestClock;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.WatchSettings;
import dev.ullage.worker.limits.LimitKeeper;
import dev.ullage.worker.turns.TurnDesk;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** The ranks' side of a worker with two devices, the test in the place of their keepers. */
final class RankHarness implements AutoCloseable {
    static final DeviceInfo FIRST = aDevice().info();
    static final DeviceInfo SECOND =
            new DeviceInfo(new DeviceId("GPU-b"), 1, "H100-80G", DeviceKind.DISCRETE, Optional.empty());
    static final int MAX_RANKS = 100;

    final FakeProcessTable processes = new FakeProcessTable();
    final TestClock clock = new TestClock();
    final TurnDesk desk = new TurnDesk(Duration.ofMillis(300), clock);
    final TestProbe<LimitKeeper.Command> keeper;
    final TestProbe<LimitKeeper.Command> otherKeeper;
    final Map<RankInstance, RankSample> samples = new ConcurrentHashMap<>();
    final List<Long> gonePids = new CopyOnWriteArrayList<>();
    private final List<RankClient> clients = new CopyOnWriteArrayList<>();
    private final ActorTestKit kit =
            ActorTestKit.create(ClusterConfig.localConfig().withFallback(ConfigFactory.load()));
    private final RankPort port;
    private final ScratchFolder folder = ScratchFolder.create("ullage-accounts");
    final RankAccountKeeper accounts;
    private final ActorRef<Consumer<RankSessions>> hub;

    RankHarness(int maxRanks) {
        accounts = new RankAccountKeeper(folder.path(), clock);
        keeper = kit.createTestProbe();
        otherKeeper = kit.createTestProbe();
        port = new RankPort(new NodeId("node-a"), processes, desk, clock, maxRanks, WatchSettings.defaults(), accounts);
        hub = kit.spawn(hub());
    }

    /** Like the worker's hub, but does whatever a test asks it to. */
    private Behavior<Consumer<RankSessions>> hub() {
        return Behaviors.setup(context -> {
            ActorRef<Consumer<RankSessions>> self = context.getSelf();
            RankSessions sessions = port.sessions(
                    new ChildSpawner(context),
                    new UseRecorder(),
                    MemoryBytes.ofMebibytes(512),
                    event -> self.tell(known -> known.on(event)));
            sessions.start(Map.of(FIRST.id(), keeper.getRef(), SECOND.id(), otherKeeper.getRef()));
            return Behaviors.receiveMessage(task -> {
                task.accept(sessions);
                return Behaviors.same();
            });
        });
    }

    ActorSystem<?> system() {
        return kit.system();
    }

    RankServer open(Path socket) throws IOException {
        MemoryUse memory =
                new MemoryUse(Fixtures.gib(100), Optional.of(MemoryBytes.ZERO), MemoryBytes.ZERO, Fixtures.gib(100));
        return port.open(
                socket,
                new RankDevices(() -> List.of(FIRST, SECOND), Optional::empty),
                device -> Optional.of(memory),
                this::on,
                () -> {
                    throw new AssertionError("the rank socket failed");
                });
    }

    /** A rank's connection; closed with this. */
    RankClient connect(RankServer server) throws IOException {
        RankClient client = RankClient.connect(server.path());
        clients.add(client);
        return client;
    }

    void on(RankSessions.Event event) {
        hub.tell(sessions -> sessions.on(event));
    }

    /** What the sessions answer, on the hub's thread. */
    <T> T ask(Function<RankSessions, T> question) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        hub.tell(sessions -> answer.complete(question.apply(sessions)));
        return answer.join();
    }

    @Override
    public void close() throws IOException {
        for (RankClient client : clients) {
            client.close();
        }
        kit.shutdownTestKit();
        accounts.close();
        folder.close();
    }

    private record ChildSpawner(ActorContext<Consumer<RankSessions>> context) implements RankSessions.Spawner {
        @Override
        public ActorRef<RankSession.Command> spawn(Behavior<RankSession.Command> behavior, String name) {
            return context.spawn(behavior, name);
        }

        @Override
        public void stop(ActorRef<RankSession.Command> session) {
            context.stop(session);
        }
    }

    private final class UseRecorder implements RankSessions.UseListener {
        @Override
        public void used(DeviceId device, RankSample sample) {
            samples.put(sample.instance(), sample);
        }

        @Override
        public void gone(long pid) {
            gonePids.add(pid);
        }
    }

    /** 5 bytes, and 7 in one phase. */
    static Order order(RankInstance instance, long sequence) {
        return new Order(instance, sequence, Fixtures.limits(MemoryBytes.of(5), MemoryBytes.of(7)));
    }

    LimitKeeper.Joined joined() {
        return keeper.expectMessageClass(LimitKeeper.Joined.class);
    }

    /** The rank's newest sample, once it is as wanted. */
    RankSample sample(RankInstance instance, Predicate<RankSample> when) {
        eventually("a sample of " + instance, () -> {
            RankSample sample = samples.get(instance);
            return sample != null && when.test(sample);
        });
        return Objects.requireNonNull(samples.get(instance));
    }
}
