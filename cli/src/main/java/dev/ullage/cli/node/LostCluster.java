package dev.ullage.cli.node;

import dev.ullage.config.ClusterConfig;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.apache.pekko.cluster.ClusterEvent.MemberEvent;
import org.apache.pekko.cluster.ClusterEvent.MemberRemoved;
import org.apache.pekko.cluster.Member;
import org.apache.pekko.cluster.UniqueAddress;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.Subscribe;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a worker's membership in a cluster that has no coordinator's node left. One that is started again, as in an
 * upgrade, is the first of a cluster of its own and never finds the workers that stayed behind in theirs; so they look
 * for the seed nodes anew. Each worker's limits stay as they are meanwhile.
 */
final class LostCluster {
    /** As long as a coordinator may take to come back by way of a seed node that is still a member. */
    static final Duration AFTER = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(LostCluster.class);

    /** What this is told. */
    sealed interface Command {}

    private record Changed(MemberEvent event) implements Command {}

    private enum TimeOut implements Command {
        INSTANCE
    }

    private final Set<UniqueAddress> coordinators = new LinkedHashSet<>();
    private final ActorContext<Command> context;
    private final TimerScheduler<Command> timers;
    private final Duration after;

    private LostCluster(ActorContext<Command> context, TimerScheduler<Command> timers, Duration after) {
        this.context = context;
        this.timers = timers;
        this.after = after;
        Cluster.get(context.getSystem())
                .subscriptions()
                .tell(Subscribe.create(context.messageAdapter(MemberEvent.class, Changed::new), MemberEvent.class));
    }

    /** @param after without a coordinator's node, once there was one */
    static Behavior<Command> create(Duration after) {
        return Behaviors.setup(
                context -> Behaviors.withTimers(timers -> new LostCluster(context, timers, after).behavior()));
    }

    private Behavior<Command> behavior() {
        return Behaviors.receive(Command.class)
                .onMessage(Changed.class, changed -> onChanged(changed.event()))
                .onMessageEquals(TimeOut.INSTANCE, this::onTimeOut)
                .build();
    }

    private Behavior<Command> onChanged(MemberEvent event) {
        Member member = event.member();
        if (member.hasRole(ClusterConfig.COORDINATOR_ROLE)) {
            if (!(event instanceof MemberRemoved)) {
                coordinators.add(member.uniqueAddress());
                timers.cancel(TimeOut.INSTANCE);
            } else if (coordinators.remove(member.uniqueAddress()) && coordinators.isEmpty()) {
                timers.startSingleTimer(TimeOut.INSTANCE, TimeOut.INSTANCE, after);
            }
        }
        return Behaviors.same();
    }

    private Behavior<Command> onTimeOut() {
        LOG.warn("reason=\"no coordinator's node is left in this cluster; looking for the seed nodes again\"");
        context.getSystem().terminate();
        return Behaviors.stopped();
    }
}
