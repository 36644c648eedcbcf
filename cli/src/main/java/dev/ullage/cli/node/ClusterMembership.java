package dev.ullage.cli.node;

import com.typesafe.config.Config;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.Join;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.concurrent.Await;

/**
 * This process's membership in the cluster. A member that the others have removed can never come back on the same
 * ActorSystem, so when that happens this makes a new one; what must survive lives elsewhere.
 */
final class ClusterMembership implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterMembership.class);
    private static final Duration REJOIN_AFTER = Duration.ofSeconds(1);
    private static final Duration LEAVE_WITHIN = Duration.ofSeconds(10);

    private final String name;
    private final Config config;
    private final boolean joinItself;
    private final Supplier<Behavior<Void>> guardian;
    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile ActorSystem<Void> system;

    private ClusterMembership(String name, Config config, boolean joinItself, Supplier<Behavior<Void>> guardian) {
        this.name = name;
        this.config = config;
        this.joinItself = joinItself;
        this.guardian = guardian;
        this.system = join();
    }

    /**
     * Joins.
     *
     * @param joinItself whether this node is the first of a cluster that nobody else is told of
     * @param guardian makes what runs on each membership's ActorSystem
     */
    static ClusterMembership start(String name, Config config, boolean joinItself, Supplier<Behavior<Void>> guardian) {
        ClusterMembership membership = new ClusterMembership(name, config, joinItself, guardian);
        Thread keeper = new Thread(membership::keepJoined, "cluster-membership");
        keeper.setDaemon(true);
        keeper.start();
        return membership;
    }

    private ActorSystem<Void> join() {
        ActorSystem<Void> joined = ActorSystem.create(guardian.get(), name, config);
        if (joinItself) {
            Cluster cluster = Cluster.get(joined);
            cluster.manager().tell(new Join(cluster.selfMember().address()));
        }
        return joined;
    }

    /** Waits for a membership to end and makes the next one, until closed. */
    private void keepJoined() {
        while (closing.getCount() > 0) {
            awaitEnd();
            try {
                if (closing.await(REJOIN_AFTER.toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
                LOG.warn("reason=\"removed from the cluster; joining again as a new member\"");
                system = join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } catch (RuntimeException e) {
                LOG.warn("reason=\"cannot join again yet: {}\"", e.getMessage());
            }
        }
    }

    private void awaitEnd() {
        try {
            Await.ready(system.whenTerminated(), scala.concurrent.duration.Duration.Inf());
        } catch (TimeoutException e) {
            throw new IllegalStateException("an endless wait timed out", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    ActorSystem<Void> system() {
        return system;
    }

    /** Where other nodes reach this one. */
    Address address() {
        return Cluster.get(system).selfMember().address();
    }

    /** Leaves the cluster in order, so that nobody has to wait for a failure detector. */
    @Override
    public void close() {
        closing.countDown();
        system.terminate();
        try {
            Await.ready(
                    system.whenTerminated(),
                    scala.concurrent.duration.Duration.create(LEAVE_WITHIN.toMillis(), TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            LOG.warn("reason=\"did not leave the cluster within {}\"", LEAVE_WITHIN);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
