package dev.ullage.cli.node;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.SettingsFlag;
import dev.ullage.config.SettingsLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.cluster.MemberStatus;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.Join;
import org.apache.pekko.cluster.typed.Leave;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Workers whose coordinators have all left, as when these are upgraded together. */
class LostClusterTest {
    private static final Duration WITHIN = Duration.ofSeconds(30);
    private static final Duration AFTER = Duration.ofMillis(300);

    private final List<ActorTestKit> members = new ArrayList<>();

    @AfterEach
    void stop() {
        members.forEach(ActorTestKit::shutdownTestKit);
    }

    private ActorTestKit member(String role) throws Exception {
        List<SettingsFlag> flags = List.of(new SettingsFlag("--port", "ullage.cluster.port", "0"));
        Config config = ClusterConfig.toPekkoConfig(
                SettingsLoader.load(Optional.empty(), flags, Map.of("HOME", "/home/a")), Set.of(role));
        ActorTestKit kit = ActorTestKit.create(ClusterConfig.SYSTEM_NAME, config);
        members.add(kit);
        Cluster first = Cluster.get(members.get(0).system());
        Cluster.get(kit.system()).manager().tell(Join.create(first.selfMember().address()));
        return kit;
    }

    private static void awaitMembers(ActorTestKit kit, int count) {
        kit.<String>createTestProbe().awaitAssert(WITHIN, () -> {
            assertThat(Cluster.get(kit.system()).state().getMembers())
                    .hasSize(count)
                    .allMatch(member -> member.status() == MemberStatus.up());
            return "up";
        });
    }

    private static void leave(ActorTestKit kit) {
        Cluster cluster = Cluster.get(kit.system());
        cluster.manager().tell(Leave.create(cluster.selfMember().address()));
    }

    @Test
    void aMembershipEndsOnceTheLastCoordinatorHasLeftAndNotBefore() throws Exception {
        ActorTestKit one = member(ClusterConfig.COORDINATOR_ROLE);
        ActorTestKit other = member(ClusterConfig.COORDINATOR_ROLE);
        ActorTestKit worker = member(ClusterConfig.WORKER_ROLE);
        ActorTestKit bystander = member(ClusterConfig.WORKER_ROLE);
        worker.spawn(LostCluster.create(AFTER));
        awaitMembers(worker, 4);

        leave(one);
        awaitMembers(worker, 3);
        leave(bystander);
        awaitMembers(worker, 2);
        assertThat(worker.system().getWhenTerminated().toCompletableFuture()).isNotDone();

        leave(other);
        worker.system().getWhenTerminated().toCompletableFuture().get(WITHIN.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void aWorkerThatWasFirstWaitsForACoordinator() throws Exception {
        ActorTestKit worker = member(ClusterConfig.WORKER_ROLE);
        ActorTestKit other = member(ClusterConfig.WORKER_ROLE);
        worker.spawn(LostCluster.create(Duration.ZERO));
        awaitMembers(worker, 2);
        leave(other);
        awaitMembers(worker, 1);
        member(ClusterConfig.COORDINATOR_ROLE);
        awaitMembers(worker, 2);

        assertThat(worker.system().getWhenTerminated().toCompletableFuture()).isNotDone();
    }
}
