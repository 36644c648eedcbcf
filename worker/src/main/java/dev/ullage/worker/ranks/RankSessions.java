package dev.ullage.worker.ranks;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.worker.limits.LimitKeeper;
import dev.ullage.worker.ranks.BadMessageException.Code;
import dev.ullage.worker.sampling.Attribution;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The processes this worker knows: those with a session, and those whose grant survived a restart of the worker and who
 * have not said hello again yet. Owned by the hub's thread; soft state.
 */
public final class RankSessions {
    private static final Logger LOG = LoggerFactory.getLogger(RankSessions.class);

    /** Something that happened to a rank, passed to the hub's thread. */
    public sealed interface Event {}

    /** The socket let a process in. */
    record Admit(RankAdmission.Admitted admitted) implements Event {}

    /** A session says what its rank last said. */
    record Sampled(DeviceId device, RankSample sample) implements Event {}

    /** What is done about a rank's use of a simulated device; nothing on a real one, which measures by itself. */
    public interface UseListener {
        void used(DeviceId device, RankSample sample);

        void gone(long pid);
    }

    /** How the hub makes and ends actors. */
    public interface Spawner {
        ActorRef<RankSession.Command> spawn(Behavior<RankSession.Command> behavior, String name);

        void stop(ActorRef<RankSession.Command> session);
    }

    /** Makes the behavior of one session. */
    interface SessionFactory {
        Behavior<RankSession.Command> create(RankAdmission.Admitted admitted, ActorRef<LimitKeeper.Command> keeper);
    }

    private record Known(
            DeviceId device, Optional<ActorRef<RankSession.Command>> session, Optional<RankSample> sample) {}

    private final Map<RankInstance, Known> known = new TreeMap<>();
    private final Map<DeviceId, ActorRef<LimitKeeper.Command>> keepers = new TreeMap<>();
    private final ProcessTable processes;
    private final SessionDirectory directory;
    private final SessionFactory factory;
    private final UseListener useListener;
    private final Spawner spawner;
    private final RankCodec codec;
    private final int maxRanks;
    private long spawned;

    RankSessions(
            ProcessTable processes,
            SessionDirectory directory,
            SessionFactory factory,
            UseListener useListener,
            Spawner spawner,
            RankCodec codec,
            int maxRanks) {
        this.processes = processes;
        this.directory = directory;
        this.factory = factory;
        this.useListener = useListener;
        this.spawner = spawner;
        this.codec = codec;
        this.maxRanks = maxRanks;
    }

    /** Called once, with the keepers of this worker's devices. */
    public void start(Map<DeviceId, ActorRef<LimitKeeper.Command>> deviceKeepers) {
        keepers.putAll(deviceKeepers);
    }

    /** A device was found later, with its keeper. */
    public void add(DeviceId device, ActorRef<LimitKeeper.Command> keeper) {
        keepers.put(device, keeper);
    }

    /** A process has a grant on the device, by the ledger: it is watched from now on, with or without a session. */
    public void watch(DeviceId device, RankInstance instance) {
        known.putIfAbsent(instance, new Known(device, Optional.empty(), Optional.empty()));
    }

    /** Every grant has a process that is watched, also one that ended while it was being made. */
    public void onReport(LimitsReported report) {
        report.ledger().grants().forEach(grant -> watch(report.device(), grant.instance()));
    }

    public void on(Event event) {
        if (event instanceof Admit admit) {
            admit(admit.admitted());
        } else if (event instanceof Sampled sampled) {
            RankInstance instance = sampled.sample().instance();
            known.computeIfPresent(
                    instance, (key, old) -> new Known(old.device(), old.session(), Optional.of(sampled.sample())));
            if (known.containsKey(instance)) {
                useListener.used(sampled.device(), sampled.sample());
            }
        }
    }

    private void admit(RankAdmission.Admitted admitted) {
        RankInstance instance = admitted.instance();
        ActorRef<LimitKeeper.Command> keeper = keepers.get(admitted.device().id());
        Known old = known.get(instance);
        if (old == null && known.size() >= maxRanks) {
            refuse(admitted, Code.TOO_MANY_RANKS, "this worker serves at most " + maxRanks + " ranks");
            return;
        }
        if (keeper == null
                || (old != null && !old.device().equals(admitted.device().id()))) {
            refuse(
                    admitted,
                    Code.NO_SUCH_DEVICE,
                    "rank " + instance + " is already on device " + (old == null ? "?" : old.device()));
            return;
        }
        ActorRef<RankSession.Command> session = Optional.ofNullable(old)
                .flatMap(Known::session)
                .orElseGet(() -> spawner.spawn(factory.create(admitted, keeper), "rank-" + spawned++));
        known.put(
                instance,
                new Known(
                        admitted.device().id(),
                        Optional.of(session),
                        Optional.ofNullable(old).flatMap(Known::sample)));
        if (old == null || old.session().isEmpty()) {
            LOG.info(
                    "device={} rank={} reason=\"registered\"", admitted.device().id(), instance);
        }
        session.tell(admitted.connected());
    }

    private void refuse(RankAdmission.Admitted admitted, Code code, String message) {
        LOG.warn("rank={} refused={} reason=\"{}\"", admitted.instance(), code, message);
        admitted.connected().channel().send(codec.error(new BadMessageException(code, message)));
        admitted.connected().channel().close();
    }

    /** Ends the sessions of processes that are gone, frees their grants, and returns who they were. */
    public List<RankInstance> removeGone() {
        List<RankInstance> gone = new ArrayList<>();
        for (RankInstance instance : known.keySet()) {
            if (isGone(instance)) {
                gone.add(instance);
            }
        }
        gone.forEach(this::remove);
        return gone;
    }

    /** Whether the process has certainly ended. One that cannot be looked at keeps its grant. */
    private boolean isGone(RankInstance instance) {
        try {
            return processes
                    .find(instance.pid())
                    .filter(facts -> facts.startTicks() == instance.startTicks())
                    .isEmpty();
        } catch (IOException e) {
            LOG.warn(
                    "rank={} reason=\"its process cannot be looked at; its grant stays: {}\"",
                    instance,
                    e.getMessage());
            return false;
        }
    }

    private void remove(RankInstance instance) {
        Known removed = known.remove(instance);
        if (removed == null) {
            return;
        }
        removed.session().ifPresent(spawner::stop);
        directory.remove(instance.toString());
        useListener.gone(instance.pid());
        ActorRef<LimitKeeper.Command> keeper = keepers.get(removed.device());
        if (keeper != null) {
            keeper.tell(new LimitKeeper.Left(instance));
        }
    }

    /** All ranks known here, on any device, by their process. */
    public Map<Long, Attribution.Placed> byPid() {
        Map<Long, Attribution.Placed> placed = new TreeMap<>();
        known.forEach(
                (instance, rank) -> placed.put(instance.pid(), new Attribution.Placed(instance.rank(), rank.device())));
        return placed;
    }

    /** The device was read: what each rank's processes use on it, by the rank's own process. */
    public void measured(DeviceId device, Map<Long, MemoryBytes> used, Instant at) {
        known.forEach((instance, rank) -> {
            MemoryBytes amount = used.get(instance.pid());
            if (amount != null && rank.device().equals(device)) {
                rank.session().ifPresent(session -> session.tell(new RankSession.Measured(amount, at)));
            }
        });
    }

    /** A mechanism outside the rank holds it to this limit; empty: none does. */
    public void held(RankInstance instance, Optional<MemoryBytes> outside) {
        Optional.ofNullable(known.get(instance))
                .flatMap(Known::session)
                .ifPresent(session -> session.tell(new RankSession.Held(outside)));
    }

    /** What the ranks on a device last said of themselves. */
    public List<RankSample> samplesOn(DeviceId device) {
        return known.values().stream()
                .filter(rank -> rank.device().equals(device))
                .flatMap(rank -> rank.sample().stream())
                .toList();
    }
}
