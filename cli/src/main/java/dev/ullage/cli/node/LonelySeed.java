package dev.ullage.cli.node;

import dev.ullage.config.ClusterConfig;
import dev.ullage.config.ClusterSettings;
import dev.ullage.config.NodeAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.apache.pekko.cluster.ClusterEvent.MemberEvent;
import org.apache.pekko.cluster.ClusterEvent.MemberRemoved;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.Subscribe;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the membership of a first seed node in a cluster that no other seed node is in, although one of them is there:
 * started again while the others were too busy to answer, it began a cluster of its own, and two clusters never find
 * each other by themselves. On its next membership it asks the others again. No other seed node can begin a cluster.
 *
 * <p>Where the others cannot be joined for another reason, each try waits longer than the one before.
 */
final class LonelySeed {
    /** So long it may be alone: seed nodes that are started together find each other sooner. */
    static final Duration AFTER = Duration.ofSeconds(30);

    private static final Logger LOG = LoggerFactory.getLogger(LonelySeed.class);
    private static final int CONNECT_MILLIS = 1_000;
    private static final int MOST_DOUBLINGS = 5;

    /** What this is told. */
    sealed interface Command {}

    private record Changed(MemberEvent event) implements Command {}

    private record Looked(Optional<NodeAddress> found) implements Command {}

    private enum Look implements Command {
        INSTANCE
    }

    /**
     * How long to be alone before anything is done, doubled with each time that was in vain. Outlives memberships.
     *
     * @param first {@link #AFTER}, or less in a test
     */
    record Patience(Duration first, AtomicInteger tries) {
        static Patience of(Duration first) {
            return new Patience(first, new AtomicInteger());
        }

        Duration now() {
            return first.multipliedBy(1L << Math.min(tries.get(), MOST_DOUBLINGS));
        }
    }

    private final Set<NodeAddress> together = new LinkedHashSet<>();
    private final ActorContext<Command> context;
    private final List<NodeAddress> others;
    private final Patience patience;
    private final Executor blocking;

    private LonelySeed(
            ActorContext<Command> context,
            TimerScheduler<Command> timers,
            List<NodeAddress> others,
            Patience patience) {
        this.context = context;
        this.others = others;
        this.patience = patience;
        this.blocking = context.getSystem()
                .dispatchers()
                .lookup(DispatcherSelector.fromConfig(ClusterConfig.BLOCKING_DISPATCHER));
        timers.startTimerWithFixedDelay(Look.INSTANCE, patience.now());
        Cluster.get(context.getSystem())
                .subscriptions()
                .tell(Subscribe.create(context.messageAdapter(MemberEvent.class, Changed::new), MemberEvent.class));
    }

    /** The other seed nodes of a node that may begin a cluster; none for any other node. */
    static List<NodeAddress> others(ClusterSettings cluster) {
        return ClusterConfig.isFirstSeed(cluster)
                ? cluster.seedNodes().subList(1, cluster.seedNodes().size())
                : List.of();
    }

    /** @param others see {@link #others}, at least one */
    static Behavior<Command> create(List<NodeAddress> others, Patience patience) {
        return Behaviors.setup(context -> Behaviors.withTimers(
                timers -> new LonelySeed(context, timers, List.copyOf(others), patience).behavior()));
    }

    private Behavior<Command> behavior() {
        return Behaviors.receive(Command.class)
                .onMessage(Changed.class, changed -> onChanged(changed.event()))
                .onMessage(Looked.class, looked -> onLooked(looked.found()))
                .onMessageEquals(Look.INSTANCE, this::onLook)
                .build();
    }

    private Behavior<Command> onChanged(MemberEvent event) {
        Address address = event.member().address();
        if (address.getHost().isPresent() && address.getPort().isPresent()) {
            NodeAddress member =
                    new NodeAddress(address.getHost().get(), address.getPort().get());
            if (event instanceof MemberRemoved) {
                together.remove(member);
            } else if (others.contains(member)) {
                together.add(member);
                patience.tries().set(0);
            }
        }
        return Behaviors.same();
    }

    private Behavior<Command> onLook() {
        if (together.isEmpty()) {
            context.pipeToSelf(
                    CompletableFuture.supplyAsync(this::answering, blocking),
                    (found, failure) -> new Looked(failure == null ? found : Optional.empty()));
        }
        return Behaviors.same();
    }

    private Optional<NodeAddress> answering() {
        return others.stream().filter(LonelySeed::answers).findFirst();
    }

    private static boolean answers(NodeAddress seed) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(seed.host(), seed.port()), CONNECT_MILLIS);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private Behavior<Command> onLooked(Optional<NodeAddress> found) {
        if (found.isEmpty() || !together.isEmpty()) {
            return Behaviors.same();
        }
        patience.tries().incrementAndGet();
        LOG.warn(
                "reason=\"seed node {} is there and not in this node's cluster, which this node began by itself;"
                        + " joining again to find it\"",
                found.get());
        context.getSystem().terminate();
        return Behaviors.stopped();
    }
}
