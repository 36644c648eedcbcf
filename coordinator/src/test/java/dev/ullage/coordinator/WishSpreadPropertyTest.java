package dev.ullage.coordinator;

import static dev.ullage.coordinator.Fixtures.atMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.OperatorRecord;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.common.protocol.ToCoordinator.DrainNode;
import dev.ullage.common.protocol.ToCoordinator.UndrainNode;
import dev.ullage.common.protocol.ToCoordinator.WishesHeld;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.config.LimitSettings;
import dev.ullage.coordinator.CoordinatorEffect.Keep;
import dev.ullage.coordinator.planning.LimitPlanner;
import dev.ullage.coordinator.planning.OperatorDesk;
import dev.ullage.coordinator.planning.Situation;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * Goal: nothing that was accepted is lost while one worker that heard of it is left. Method: the shipped owner of the
 * wishes as one coordinator after the other, workers as nothing but a record, messages that are lost at random, workers
 * that start anew with nothing, and coordinators that end after any step.
 */
class WishSpreadPropertyTest {
    private static final Duration RESEND_AFTER = Duration.ofMillis(100);
    private static final int WORKERS = 4;
    private static final int STEPS = 60;
    private static final ActorRef<ToOperator> OPERATOR =
            TestInbox.<ToOperator>create().getRef();
    private static final ActorRef<ToWorker> WORKER =
            TestInbox.<ToWorker>create().getRef();

    private static final class World {
        private final Random random;
        private final NavigableMap<NodeId, Optional<OperatorRecord>> workers = new TreeMap<>();
        private long epoch = 1;
        private long millis;
        private OperatorWrites coordinator = coordinator();

        World(Random random) {
            this.random = random;
            for (int i = 0; i < WORKERS; i++) {
                workers.put(new NodeId("w" + i), Optional.empty());
            }
        }

        private static OperatorWrites coordinator() {
            LimitPlanner planner = LimitPlanner.of(Duration.ofSeconds(5), LimitSettings.defaults());
            return new OperatorWrites(new OperatorDesk(planner), RESEND_AFTER);
        }

        private CoordinatorToken token() {
            return new CoordinatorToken(epoch, "c");
        }

        private ClusterView view() {
            ClusterView view = ClusterView.EMPTY;
            for (NodeId worker : workers.keySet()) {
                view = view.with(new WorkerAnnounced(worker, 1, Optional.empty(), List.of(), WORKER), atMillis(millis));
            }
            return view;
        }

        /** Returns what was asked to be kept, of which each message may be lost. */
        private void deliver(List<CoordinatorEffect> effects, int lostOfTen) {
            for (CoordinatorEffect effect : effects) {
                if (effect instanceof Keep keep && random.nextInt(10) >= lostOfTen) {
                    workers.computeIfPresent(
                            keep.worker(), (worker, kept) -> OperatorRecord.newest(kept, Optional.of(keep.record())));
                }
            }
        }

        void write() {
            NodeId node = new NodeId("w" + random.nextInt(WORKERS));
            Situation situation = new Situation(view(), Map.of(), coordinator.wishes(), token(), atMillis(millis));
            OperatorWrites.Ruled ruled = coordinator.rule(
                    random.nextBoolean()
                            ? new DrainNode(node, Optional.of("change " + millis), Optional.empty(), OPERATOR)
                            : new UndrainNode(node, Optional.empty(), OPERATOR),
                    situation);
            deliver(ruled.effects(), 5);
        }

        /** Workers announce what they keep, are asked for what is newer, and are sent what they lack. */
        void tick(int lostOfTen) {
            millis += RESEND_AFTER.toMillis();
            workers.forEach((worker, kept) -> {
                if (random.nextInt(10) >= lostOfTen) {
                    coordinator.announced(worker, Optional.of(new WishesHeld(kept.map(OperatorRecord::stamp))));
                }
            });
            for (NodeId worker : coordinator.newerCopies()) {
                if (random.nextInt(10) >= lostOfTen) {
                    workers.getOrDefault(worker, Optional.empty()).ifPresent(coordinator::adopt);
                }
            }
            deliver(coordinator.spread(token(), atMillis(millis)), lostOfTen);
        }

        void takeOver() {
            epoch++;
            coordinator = coordinator();
            // It learns before it plans: every worker is heard.
            tick(0);
        }

        void restartOfAWorkerWithoutItsDisk() {
            NodeId worker = new NodeId("w" + random.nextInt(WORKERS));
            workers.put(worker, Optional.empty());
            coordinator.forgetting(worker);
        }
    }

    @Property(tries = 300)
    void everyWorkerComesToKeepTheNewest(@ForAll long seed) {
        World world = new World(new Random(seed));
        for (int step = 0; step < STEPS; step++) {
            switch (world.random.nextInt(6)) {
                case 0, 1 -> world.write();
                case 2 -> world.takeOver();
                case 3 -> world.restartOfAWorkerWithoutItsDisk();
                default -> world.tick(3);
            }
        }
        world.tick(0);
        world.tick(0);

        Optional<OperatorRecord> newest = world.coordinator.wishes().record();
        assertThat(world.workers.values()).as("seed " + seed).allMatch(newest::equals);
        assertThat(world.coordinator.newerCopies()).isEmpty();
    }

    @Property(tries = 300)
    void whatAWorkerHeardOfIsNotLostByATakeOver(@ForAll long seed) {
        World world = new World(new Random(seed));
        for (int step = 0; step < STEPS; step++) {
            world.write();
            Optional<OperatorRecord> newest = world.coordinator.wishes().record();
            boolean isHeard = world.workers.values().stream().anyMatch(newest::equals);
            if (newest.isPresent() && isHeard) {
                List<Drain> before = new ArrayList<>(newest.get().drains());
                world.takeOver();
                assertThat(world.coordinator.wishes().standing().drains().values())
                        .as("seed " + seed)
                        .containsExactlyElementsOf(before);
            }
            world.tick(5);
        }
    }
}
