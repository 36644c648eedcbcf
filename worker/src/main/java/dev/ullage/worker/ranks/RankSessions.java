package dev.ullage.worker.ranks;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobReport.Applied;
import dev.ullage.common.protocol.OomReport;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToWorker.DirectJob;
import dev.ullage.common.protocol.ToWorker.ReleaseCache;
import dev.ullage.worker.limits.LimitKeeper;
import dev.ullage.worker.ranks.BadMessageException.Code;
import dev.ullage.worker.sampling.Attribution;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
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

    /** A session says what its rank has come to. */
    record Accounted(RankAccount account) implements Event {}

    /** A session says that its rank ran out of memory. */
    record RanOut(OomReport report) implements Event {}

    /** A session says that its rank did what it was directed to. */
    record DidDirective(Applied applied, JobDirective directive) implements Event {}

    /** Passes what a session says to the hub's thread. */
    record SessionListener(DeviceId device, Consumer<Event> events) implements RankSession.Listener {
        @Override
        public void sampled(RankSample sample) {
            events.accept(new Sampled(device, sample));
        }

        @Override
        public void accounted(RankAccount account) {
            events.accept(new Accounted(account));
        }

        @Override
        public void ranOut(OomReport report) {
            events.accept(new RanOut(report));
        }

        @Override
        public void applied(Applied applied, JobDirective directive) {
            events.accept(new DidDirective(applied, directive));
        }
    }

    /** How ranks are served. */
    record Serving(RankCodec codec, int maxRanks, Clock clock, RankAccountKeeper accounts) {}

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
            DeviceId device,
            Optional<ActorRef<RankSession.Command>> session,
            Optional<RankSample> sample,
            OptionalInt restart) {}

    private final Map<RankInstance, Known> known = new TreeMap<>();
    private final Map<DeviceId, ActorRef<LimitKeeper.Command>> keepers = new TreeMap<>();
    private final ProcessTable processes;
    private final SessionDirectory directory;
    private final SessionFactory factory;
    private final UseListener useListener;
    private final Spawner spawner;
    private final RankCodec codec;
    private final int maxRanks;
    private final Clock clock;
    private final JobBoard board = new JobBoard();
    private final RankAccountKeeper accounts;
    private long spawned;
    private Map<Long, Attribution.Placed> byPid = Map.of();

    RankSessions(
            ProcessTable processes,
            SessionDirectory directory,
            SessionFactory factory,
            UseListener useListener,
            Spawner spawner,
            Serving serving) {
        this.processes = processes;
        this.directory = directory;
        this.factory = factory;
        this.useListener = useListener;
        this.spawner = spawner;
        this.codec = serving.codec();
        this.maxRanks = serving.maxRanks();
        this.clock = serving.clock();
        this.accounts = serving.accounts();
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
        known.putIfAbsent(instance, new Known(device, Optional.empty(), Optional.empty(), OptionalInt.empty()));
    }

    /** Every grant has a process that is watched, also one that ended while it was being made. */
    public void onReport(LimitsReported report) {
        report.ledger().grants().forEach(grant -> watch(report.device(), grant.instance()));
    }

    /**
     * Something happened to a rank.
     *
     * @return whether readings of the devices are to be judged by something else now, or told with something else
     */
    public boolean on(Event event) {
        if (event instanceof Admit admit) {
            admit(admit.admitted());
            return true;
        }
        if (event instanceof Sampled sampled) {
            return sampled(sampled);
        }
        if (event instanceof Accounted accounted) {
            accounts.heard(accounted.account());
        } else if (event instanceof RanOut out) {
            ranOut(out.report());
        } else if (event instanceof DidDirective did) {
            JobId job = did.applied().instance().rank().job();
            if (known.containsKey(did.applied().instance())
                    && did.directive().job().equals(job)) {
                board.applied(did.applied(), did.directive(), clock.instant()).ifPresent(this::direct);
            }
        }
        return false;
    }

    private boolean sampled(Sampled event) {
        RankSample sample = event.sample();
        Known old = known.get(sample.instance());
        if (old == null) {
            return false;
        }
        known.put(sample.instance(), new Known(old.device(), old.session(), Optional.of(sample), old.restart()));
        useListener.used(event.device(), sample);
        return old.sample().filter(sample::isSameButForItsAge).isEmpty();
    }

    private void ranOut(OomReport report) {
        Known rank = known.get(report.instance());
        if (rank == null) {
            return;
        }
        LOG.warn(
                "rank={} step={} phase={} kind={} requested={} reason=\"out of memory\"",
                report.instance(),
                report.step(),
                report.phase(),
                report.kind(),
                report.figures().requested().map(MemoryBytes::toString).orElse("unknown"));
        board.ranOut(report, clock.instant()).ifPresent(newest -> rank.session()
                .ifPresent(session -> session.tell(new RankSession.Direct(newest, false))));
    }

    /** A coordinator says what the ranks of a job are to do; one that is not the newest is not listened to. */
    public void onDirect(DirectJob message) {
        board.direct(message.token(), message.directive(), clock.instant()).ifPresent(this::direct);
    }

    private void direct(JobDirective directive) {
        known.forEach((instance, rank) -> {
            if (instance.rank().job().equals(directive.job())) {
                rank.session().ifPresent(session -> session.tell(new RankSession.Direct(directive, false)));
            }
        });
    }

    /** A coordinator was heard of. */
    public void learn(CoordinatorToken token) {
        board.learn(token);
    }

    /** What is known of the jobs, when it has changed since this was last asked. */
    public Optional<JobsReported> changedJobs(NodeId node) {
        return board.takeChanged() ? Optional.of(board.report(node)) : Optional.empty();
    }

    /** The same with the next few of what the ranks have come to. */
    public JobsReported jobsWithAccounts(NodeId node) {
        JobsReported jobs = board.report(node);
        return new JobsReported(node, jobs.token(), jobs.jobs(), Optional.of(accounts.next()));
    }

    /** What is known of the jobs. */
    public JobsReported jobs(NodeId node) {
        return board.report(node);
    }

    private void admit(RankAdmission.Admitted admitted) {
        RankInstance instance = admitted.instance();
        // What a job that has just ended was promised is not shared with: a framework may keep its first limit.
        boolean isFull = known.size() >= maxRanks;
        removeGone(rank -> isFull || rank.device().equals(admitted.device().id()));
        ActorRef<LimitKeeper.Command> keeper = keepers.get(admitted.device().id());
        Known old = known.get(instance);
        if (old == null && known.size() >= maxRanks) {
            refuse(admitted, Code.TOO_MANY_RANKS, "this worker serves at most " + Counts.of(maxRanks, "rank"));
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
        int restart = admitted.connected().hello().facts().restart();
        Optional<RankInstance> newer = old == null ? newerThan(instance, restart) : Optional.empty();
        if (newer.isPresent()) {
            refuse(
                    admitted,
                    Code.STALE_RESTART,
                    "rank %s is of restart %d, and %s of a later one runs: its launcher has given it up"
                            .formatted(instance, restart, newer.get()));
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
                        Optional.ofNullable(old).flatMap(Known::sample),
                        OptionalInt.of(restart)));
        if (old == null || old.session().isEmpty()) {
            LOG.info(
                    "device={} rank={} reason=\"registered\"", admitted.device().id(), instance);
        }
        session.tell(admitted.connected());
        boolean isNew = old == null || old.session().isEmpty();
        RankMessage.Hello hello = admitted.connected().hello();
        board.joined(
                        instance,
                        hello.facts().worldSize(),
                        hello.directive().filter(held -> held.job()
                                .equals(instance.rank().job())),
                        clock.instant())
                .ifPresent(this::direct);
        board.newest(instance.rank().job())
                .filter(directive -> isNew)
                .ifPresent(directive -> session.tell(new RankSession.Direct(directive, true)));
    }

    /**
     * A living process of the same rank that its launcher started later. One that came first keeps its grant whatever
     * its count: it may hold memory. Counts of different ranks are not compared, for each agent of torchrun has its
     * own.
     */
    private Optional<RankInstance> newerThan(RankInstance instance, int restart) {
        return known.entrySet().stream()
                .filter(entry -> entry.getKey().rank().equals(instance.rank()))
                .filter(entry -> entry.getValue().restart().orElse(0) > restart)
                .map(Map.Entry::getKey)
                .filter(other -> !isGone(other))
                .findFirst();
    }

    private void refuse(RankAdmission.Admitted admitted, Code code, String message) {
        LOG.warn("rank={} refused={} reason=\"{}\"", admitted.instance(), code, message);
        admitted.connected().channel().send(codec.error(new BadMessageException(code, message)));
        admitted.connected().channel().close();
    }

    /** Ends the sessions of processes that are gone, frees their grants, and returns who they were. */
    public List<RankInstance> removeGone() {
        List<RankInstance> gone = removeGone(rank -> true);
        board.forget(clock.instant());
        return gone;
    }

    private List<RankInstance> removeGone(Predicate<Known> which) {
        List<RankInstance> gone = new ArrayList<>();
        known.forEach((instance, rank) -> {
            if (which.test(rank) && isGone(instance)) {
                gone.add(instance);
            }
        });
        for (RankInstance instance : gone) {
            remove(instance);
            LOG.info("rank={} reason=\"process is gone; its grant is free\"", instance);
        }
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
        board.left(instance, clock.instant());
        accounts.left(instance);
        ActorRef<LimitKeeper.Command> keeper = keepers.get(removed.device());
        if (keeper != null) {
            keeper.tell(new LimitKeeper.Left(instance));
        }
    }

    /** All ranks known here, on any device, by their process; the same object for as long as nothing in it changes. */
    public Map<Long, Attribution.Placed> byPid() {
        Map<Long, Attribution.Placed> placed = new TreeMap<>();
        known.forEach(
                (instance, rank) -> placed.put(instance.pid(), new Attribution.Placed(instance.rank(), rank.device())));
        if (!placed.equals(byPid)) {
            byPid = Collections.unmodifiableMap(placed);
        }
        return byPid;
    }

    /** A device was read; its ranks may have to give their caches back. */
    public void read(DeviceId device, MemoryUse memory) {
        for (Known rank : known.values()) {
            if (rank.device().equals(device)) {
                rank.session().ifPresent(session -> session.tell(new RankSession.DeviceRead(memory)));
            }
        }
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

    /** An operator wants caches back. Of a coordinator that is not the newest it is not done. */
    public void release(ReleaseCache message) {
        board.learn(message.token());
        if (!board.obeys(message.token())) {
            return;
        }
        message.ranks().stream()
                .flatMap(instance -> Optional.ofNullable(known.get(instance)).stream())
                .flatMap(rank -> rank.session().stream())
                .forEach(session -> session.tell(new RankSession.Release()));
    }

    /** What the ranks on a device last said of themselves. */
    public List<RankSample> samplesOn(DeviceId device) {
        List<RankSample> samples = new ArrayList<>();
        for (Known rank : known.values()) {
            if (rank.device().equals(device)) {
                rank.sample().ifPresent(samples::add);
            }
        }
        return List.copyOf(samples);
    }
}
