package dev.ullage.cli.simulation;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToCoordinator.StaleCoordinator;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.coordinator.CoordinatorEffect;
import dev.ullage.coordinator.CoordinatorEffect.Desire;
import dev.ullage.coordinator.CoordinatorEffect.Learn;
import dev.ullage.coordinator.CoordinatorEffect.Note;
import dev.ullage.coordinator.CoordinatorEffect.Recorded;
import dev.ullage.coordinator.CoordinatorLogic;
import dev.ullage.coordinator.planning.RankDemands;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What {@code CoordinatorActor} is around {@link CoordinatorLogic}: time, messages, and how each worker is reached. */
final class SimulatedCoordinator {
    /** As shipped, but for what a run of ten seconds would never see. */
    static final CoordinatorSettings SETTINGS = new CoordinatorSettings(
            CoordinatorSettings.defaults().tick(),
            CoordinatorSettings.defaults().claimFor(),
            CoordinatorSettings.defaults().learnFor(),
            Duration.ofSeconds(3),
            Duration.ofSeconds(4),
            Duration.ofSeconds(3),
            Duration.ofSeconds(1));

    final int number;
    final NodeId node;
    private final World world;
    private final Map<NodeId, Integer> workers = new TreeMap<>();
    private @Nullable CoordinatorLogic logic;
    private int incarnation;

    SimulatedCoordinator(World world, int number) {
        this.world = world;
        this.number = number;
        this.node = new NodeId("coordinator-" + number);
    }

    boolean isAlive() {
        return logic != null;
    }

    Optional<CoordinatorLogic> logic() {
        return Optional.ofNullable(logic);
    }

    void start() {
        if (logic != null) {
            return;
        }
        incarnation++;
        String uid = "c" + number + "-" + incarnation;
        logic = new CoordinatorLogic(
                SETTINGS,
                world.limits(),
                new RankDemands(world.limits().policies().observed().predictor()),
                node,
                uid,
                world.time().now());
        world.note(What.START, number, incarnation, () -> node + " starts as " + uid);
        tickLater(incarnation);
    }

    void crash() {
        logic = null;
        workers.clear();
        world.note(What.CRASH, number, incarnation, () -> node + " crashes");
    }

    private void tickLater(int ofIncarnation) {
        world.time().after(SETTINGS.tick().toMillis(), () -> {
            CoordinatorLogic running = logic;
            if (running != null && incarnation == ofIncarnation) {
                tickLater(ofIncarnation);
                running.onTick(world.time().now());
                perform(running);
                workers.keySet().removeIf(worker -> running.view().node(worker).isEmpty());
            }
        });
    }

    /** For one incarnation only: it is the one that asked. */
    void receiveReply(ToCoordinator message, int sender, int toIncarnation) {
        if (toIncarnation == incarnation) {
            receive(message, sender);
        }
    }

    /** @param sender the incarnation of the worker that sent it */
    void receive(ToCoordinator message, int sender) {
        CoordinatorLogic running = logic;
        if (running == null) {
            return;
        }
        world.note(What.TO_COORDINATOR, number, sender, () -> node + " hears " + message);
        if (message instanceof WorkerAnnounced announced) {
            Integer known = workers.put(announced.node(), sender);
            running.onAnnounced(
                    announced, known == null || known != sender, world.time().now());
        } else if (message instanceof LimitsReported report) {
            running.onReported(report, world.time().now());
        } else if (message instanceof StaleCoordinator stale) {
            running.onStale(stale, world.time().now());
        }
        perform(running);
    }

    void setReserve(DeviceId device, Share reserve) {
        logic().ifPresent(running -> {
            running.onWrite(
                    new SetReserve(Optional.of(device), reserve, Stubs.OPERATOR),
                    world.time().now());
            perform(running);
        });
    }

    void setShare(RankId rank, Share share) {
        logic().ifPresent(running -> {
            running.onWrite(
                    new SetShare(rank.job(), OptionalInt.of(rank.rank()), share, Stubs.OPERATOR),
                    world.time().now());
            perform(running);
        });
    }

    private void perform(CoordinatorLogic running) {
        for (CoordinatorEffect effect : running.takeEffects()) {
            if (effect instanceof Learn learn) {
                send(learn.worker(), effect);
            } else if (effect instanceof Desire desire) {
                send(desire.worker(), effect);
            } else if (effect instanceof Recorded recorded) {
                world.decided(recorded.decision());
            } else if (effect instanceof Note note) {
                world.note(What.LEADERSHIP, number, 0, () -> node + ": " + note);
            }
        }
    }

    private void send(NodeId worker, CoordinatorEffect effect) {
        Integer reached = workers.get(worker);
        if (reached != null) {
            int from = incarnation;
            SimulatedHost host = world.host(worker);
            world.toHost(this, host, () -> host.receive(effect, this, from, reached));
        }
    }
}
