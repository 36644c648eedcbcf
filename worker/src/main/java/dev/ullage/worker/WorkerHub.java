package dev.ullage.worker;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.OperatorRecord;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.WishesHeld;
import dev.ullage.common.protocol.ToCoordinator.WishesReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.protocol.ToWorker.DesireLimits;
import dev.ullage.common.protocol.ToWorker.DirectJob;
import dev.ullage.common.protocol.ToWorker.KeepWishes;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import dev.ullage.common.protocol.ToWorker.ReleaseCache;
import dev.ullage.config.ClusterConfig;
import dev.ullage.worker.enforcement.CeilingAlarm;
import dev.ullage.worker.enforcement.EnforcementWatch;
import dev.ullage.worker.host.HostWatch;
import dev.ullage.worker.limits.LimitKeeper;
import dev.ullage.worker.ranks.RankSessions;
import dev.ullage.worker.rungs.Enforcer;
import dev.ullage.worker.sampling.Attention;
import dev.ullage.worker.sampling.Attribution;
import dev.ullage.worker.sampling.Attribution.Placed;
import dev.ullage.worker.sampling.Attributions;
import dev.ullage.worker.sampling.DeviceTerms;
import dev.ullage.worker.sampling.ForeignBounds;
import dev.ullage.worker.sampling.ForeignMemory;
import dev.ullage.worker.sampling.ReportPace;
import dev.ullage.worker.sampling.RoundReport;
import dev.ullage.worker.sampling.Sample;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The worker's root: starts a keeper per device, passes messages between them, the ranks' sessions and whoever
 * coordinates now. Owns no promise; all its state is soft. Without a link the worker is autonomous: every limit stays.
 */
public final class WorkerHub extends AbstractBehavior<WorkerHub.Command> {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerHub.class);
    static final DispatcherSelector BLOCKING = DispatcherSelector.fromConfig(ClusterConfig.BLOCKING_DISPATCHER);

    /** What the hub is told. */
    public sealed interface Command {}

    /** The worker is a member of a cluster: announce over {@code coordinator}, be reached at {@code link}. */
    public record LinkUp(ActorRef<ToWorker> link, ActorRef<ToCoordinator> coordinator) implements Command {}

    /** That membership is gone. */
    public record LinkDown(ActorRef<ToWorker> link) implements Command {}

    /** A coordinator said something. */
    public record FromCoordinator(ToWorker message) implements Command {}

    /** A keeper has something to report. */
    private record Reported(ToCoordinator message) implements Command {}

    /** The sampler says what is known of devices now. */
    record Sampled(List<Sample> samples) implements Command {}

    /** A device was found that was not there when the worker started. */
    record DeviceAdded(DeviceSetup device) implements Command {}

    /**
     * What a look for devices came to.
     *
     * @param present as the driver describes them now
     * @param retired those that can hold nothing any more
     */
    record DevicesSeen(List<DeviceInfo> present, Set<DeviceId> retired) implements Command {}

    /** Something about a rank, to be handled by the sessions. */
    record ForSessions(RankSessions.Event event) implements Command {}

    /** What holds a rank from outside it. */
    private record Held(Enforcer.Found found) implements Command {}

    /** What the host has beside its devices. */
    private record HostMeasured(HostCapacity host) implements Command {}

    private record KeeperStopped(DeviceId device) implements Command {}

    private enum Announce implements Command {
        INSTANCE
    }

    private enum CheckProcesses implements Command {
        INSTANCE
    }

    /**
     * A device.
     *
     * @param granted the processes its ledger has grants for: ranks from the first reading on, not strangers
     * @param foreign memory of strangers as that ledger last knew it; empty in one that was never told
     * @param keeper how its keeper is made, given where its reports go
     */
    record DeviceSetup(
            DeviceInfo info,
            List<RankInstance> granted,
            Optional<MemoryBytes> foreign,
            Function<ActorRef<ToCoordinator>, Behavior<LimitKeeper.Command>> keeper) {}

    /**
     * What a hub needs.
     *
     * @param sessions makes the owner of the ranks' sessions
     * @param enforcement how ranks are held from outside
     * @param alarm when a rank is above its ceiling
     * @param wishes where what operators asked for is kept
     * @param host looks at what it has beside its devices
     * @param attention whom to ask for readings though they say nothing new
     * @param onKeeperLost a device's keeper stopped: its ledger cannot be written, so the worker must not go on
     */
    record Setup(
            NodeId node,
            List<DeviceSetup> devices,
            Function<ActorContext<Command>, RankSessions> sessions,
            Duration announceEvery,
            Duration checkProcessesEvery,
            Enforcer.Setup enforcement,
            CeilingAlarm.Terms alarm,
            Wishes wishes,
            HostWatch host,
            Clock clock,
            Attention attention,
            Runnable onKeeperLost) {}

    /**
     * What operators asked for.
     *
     * @param kept as the file says it
     */
    record Wishes(Optional<OperatorRecord> kept, WishFile file) {}

    private record Link(ActorRef<ToWorker> self, ActorRef<ToCoordinator> coordinator) {}

    private final Setup setup;
    private final Map<DeviceId, ActorRef<LimitKeeper.Command>> keepers = new LinkedHashMap<>();
    private final Map<DeviceId, DeviceTerms> terms = new LinkedHashMap<>();
    private final Map<DeviceId, ReportPace> paces = new LinkedHashMap<>();
    private final OwnedDevices devices = new OwnedDevices();
    private final Attributions attributions = new Attributions();
    private final ActorRef<ToCoordinator> reports;
    private final RankSessions sessions;
    private final EnforcementWatch watch;
    private final Enforcer enforcer;
    private @Nullable Link link;
    /** Of the coordinator that was heard of last. */
    private boolean readsRounds;

    private Optional<CoordinatorToken> learnt = Optional.empty();
    private Optional<CoordinatorToken> highestToken = Optional.empty();
    private final ActorRef<OperatorRecord> wishFile;
    private final ReservationRoute reservations;
    private Optional<OperatorRecord> wishes;
    private HostCapacity host;

    private WorkerHub(ActorContext<Command> context, Setup setup) {
        super(context);
        this.setup = setup;
        this.watch = new EnforcementWatch(setup.alarm());
        this.reservations = new ReservationRoute(setup.node());
        ActorRef<Command> self = context.getSelf();
        this.enforcer = Enforcer.start(context, setup.enforcement(), found -> self.tell(new Held(found)));
        this.wishes = setup.wishes().kept();
        this.wishFile = context.spawn(setup.wishes().file().writer(), "wishes", BLOCKING);
        this.reports = context.messageAdapter(ToCoordinator.class, Reported::new);
        this.host = setup.host().atFirst();
        ActorRef<HostCapacity> hosts = context.messageAdapter(HostCapacity.class, HostMeasured::new);
        context.spawn(setup.host().telling(hosts), "host", BLOCKING);
        setup.devices().forEach(this::startKeeper);
        this.sessions = setup.sessions().apply(context);
        sessions.start(keepers);
        setup.devices().forEach(device -> device.granted()
                .forEach(instance -> sessions.watch(device.info().id(), instance)));
    }

    private ActorRef<LimitKeeper.Command> startKeeper(DeviceSetup device) {
        DeviceId id = device.info().id();
        ActorRef<LimitKeeper.Command> keeper =
                getContext().spawn(device.keeper().apply(reports), "keeper-" + keepers.size(), BLOCKING);
        getContext().watchWith(keeper, new KeeperStopped(id));
        keepers.put(id, keeper);
        devices.add(device.info());
        terms.put(id, new DeviceTerms(device.info().kind(), device.foreign()));
        return keeper;
    }

    static Behavior<Command> create(Setup setup) {
        return Behaviors.setup(context -> Behaviors.withTimers(timers -> started(context, timers, setup)));
    }

    private static WorkerHub started(ActorContext<Command> context, TimerScheduler<Command> timers, Setup setup) {
        timers.startTimerWithFixedDelay(Announce.INSTANCE, setup.announceEvery());
        timers.startTimerWithFixedDelay(CheckProcesses.INSTANCE, setup.checkProcessesEvery());
        return new WorkerHub(context, setup);
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(ForSessions.class, this::onForSessions)
                .onMessage(Reported.class, this::onReported)
                .onMessage(Sampled.class, this::onSampled)
                .onMessage(DeviceAdded.class, this::onDeviceAdded)
                .onMessage(DevicesSeen.class, this::onDevicesSeen)
                .onMessage(FromCoordinator.class, this::onFromCoordinator)
                .onMessage(LinkUp.class, this::onLinkUp)
                .onMessage(LinkDown.class, this::onLinkDown)
                .onMessage(Held.class, this::onHeld)
                .onMessage(HostMeasured.class, this::onHostMeasured)
                .onMessage(KeeperStopped.class, this::onKeeperStopped)
                .onMessageEquals(Announce.INSTANCE, this::onAnnounce)
                .onMessageEquals(CheckProcesses.INSTANCE, this::onCheckProcesses)
                .build();
    }

    private Behavior<Command> onLinkUp(LinkUp command) {
        link = new Link(command.link(), command.coordinator());
        tellAnew();
        LOG.info("node={} reason=\"member of a cluster\"", setup.node());
        return onAnnounce();
    }

    /** Whoever coordinates now has not been told what others were. */
    private void tellAnew() {
        paces.clear();
        setup.attention().next();
    }

    private Behavior<Command> onLinkDown(LinkDown command) {
        if (link != null && link.self().equals(command.link())) {
            link = null;
            paces.clear();
            LOG.info("node={} state=autonomous reason=\"no cluster; every limit stays\"", setup.node());
        }
        return this;
    }

    private Behavior<Command> onAnnounce() {
        if (link != null) {
            link.coordinator()
                    .tell(new WorkerAnnounced(
                            setup.node(),
                            Protocol.VERSION,
                            highestToken,
                            devices.announced(),
                            Optional.of(new WishesHeld(wishes.map(OperatorRecord::stamp))),
                            Optional.of(host),
                            link.self()));
            link.coordinator().tell(sessions.jobsWithAccounts(setup.node()));
        }
        return this;
    }

    private Behavior<Command> onHostMeasured(HostMeasured command) {
        host = command.host();
        return this;
    }

    private Behavior<Command> onFromCoordinator(FromCoordinator command) {
        if (command.message() instanceof LearnFrom learn) {
            keepers.values().forEach(keeper -> keeper.tell(new LimitKeeper.Learn(learn)));
            sessions.learn(learn.token());
            if (!learnt.equals(Optional.of(learn.token()))) {
                learnt = Optional.of(learn.token());
                tellAnew();
            }
            readsRounds = learn.reads().map(ToWorker.Reads::rounds).orElse(false);
            learn.replyTo().tell(sessions.jobs(setup.node()));
            wishes.ifPresent(kept -> learn.replyTo().tell(new WishesReported(setup.node(), kept)));
        } else if (command.message() instanceof KeepWishes keep) {
            keep(keep.record());
        } else if (command.message() instanceof DirectJob directive) {
            sessions.onDirect(directive);
            directive.replyTo().tell(sessions.jobs(setup.node()));
        } else if (command.message() instanceof ReleaseCache release) {
            sessions.release(release);
            release.replyTo().tell(sessions.jobs(setup.node()));
        } else if (command.message() instanceof DesireLimits plan) {
            ActorRef<LimitKeeper.Command> keeper = keepers.get(plan.device());
            if (keeper == null) {
                LOG.warn(
                        "device={} refused=UNKNOWN_DEVICE token={} revision={} reason=\"this worker owns {}\"",
                        plan.device(),
                        plan.token(),
                        plan.revision(),
                        keepers.keySet());
            } else {
                keeper.tell(new LimitKeeper.Plan(plan));
            }
        } else {
            reservations.pass(command.message(), keepers);
        }
        return this;
    }

    /** Whoever sends it: what counts is which record is newer. */
    private void keep(OperatorRecord record) {
        if (record.isNewerThan(wishes.map(OperatorRecord::stamp))) {
            wishes = Optional.of(record);
            wishFile.tell(record);
            LOG.info(
                    "stamp={} drains={} jobs={} reason=\"keeps what operators asked for\"",
                    record.stamp(),
                    record.drains().size(),
                    record.jobs().size());
            onAnnounce();
        }
    }

    private Behavior<Command> onReported(Reported command) {
        if (command.message() instanceof LimitsReported report) {
            sessions.onReport(report);
            if (watch.reported(report)) {
                setup.attention().next();
            }
            devices.info(report.device()).ifPresent(device -> enforcer.want(device, watch.ceilings(device.id())));
            if (devices.reported(report.device(), report.ledger())) {
                onAnnounce();
            }
            if (report.token().isPresent()
                    && (highestToken.isEmpty()
                            || highestToken.get().isOlderThan(report.token().get()))) {
                highestToken = report.token();
                sessions.learn(report.token().get());
            }
        }
        if (link != null) {
            link.coordinator().tell(command.message());
        }
        return this;
    }

    private Behavior<Command> onSampled(Sampled command) {
        RoundReport round = new RoundReport(setup.node());
        Map<Long, Placed> ranks = sessions.byPid();
        for (Sample read : command.samples()) {
            Sample sample = devices.holding(read);
            sampled(sample, attributions.of(sample, ranks), round);
        }
        if (link != null) {
            round.messages(readsRounds).forEach(link.coordinator()::tell);
        }
        boolean isCounting = watch.isCounting() || terms.values().stream().anyMatch(DeviceTerms::isCounting);
        if (isCounting || paces.values().stream().anyMatch(ReportPace::isHolding)) {
            setup.attention().next();
        }
        return this;
    }

    private void sampled(Sample sample, Attribution whose, RoundReport round) {
        DeviceId device = sample.device();
        DeviceReading reading = sample.reading();
        Optional<MemoryBytes> foreign = ForeignMemory.of(reading, whose.ours());
        List<RankSample> ranks = sessions.samplesOn(device);
        Optional<ForeignBounds> bounds = foreign.isPresent()
                ? Optional.empty()
                : ForeignBounds.of(reading, whose, ranks, watch.ceilings(device));
        ActorRef<LimitKeeper.Command> keeper = keepers.get(device);
        DeviceTerms known = terms.get(device);
        if (keeper != null && known != null && sample.isFresh()) {
            reading.memory()
                    .flatMap(memory ->
                            known.news(memory, foreign, bounds, setup.clock().instant()))
                    .ifPresent(news -> keeper.tell(new LimitKeeper.Measured(news.allocatable(), news.foreign())));
        }
        Map<Long, MemoryBytes> used = whose.useByRank(reading);
        if (sample.isFresh()) {
            reading.memory().ifPresent(memory -> sessions.read(device, memory));
            sessions.measured(device, used, setup.clock().instant().minus(sample.age()));
            watch.measured(device, used).forEach(change -> AlarmLog.tell(device, change));
        }
        List<String> problems = new ArrayList<>(reading.problems());
        problems.addAll(whose.problems());
        Optional.ofNullable(known).ifPresent(of -> problems.addAll(of.notes(bounds)));
        problems.addAll(watch.problems(device, used, ranks));
        if (link != null) {
            DeviceSampled newest = new DeviceSampled(
                    setup.node(),
                    device,
                    sample.age().toMillis(),
                    reading.memory(),
                    foreign,
                    ranks.stream().map(watch::held).toList(),
                    problems);
            paces.computeIfAbsent(device, key -> new ReportPace())
                    .offer(newest, sample.quality(), setup.clock().instant())
                    .ifPresent(report -> round.add(report, sample.quality()));
        }
    }

    private Behavior<Command> onDeviceAdded(DeviceAdded command) {
        DeviceSetup device = command.device();
        DeviceId id = device.info().id();
        if (!keepers.containsKey(id)) {
            sessions.add(id, startKeeper(device));
            device.granted().forEach(instance -> sessions.watch(id, instance));
        }
        return onAnnounce();
    }

    private Behavior<Command> onDevicesSeen(DevicesSeen command) {
        for (DeviceId device : devices.seen(command.present(), command.retired())) {
            Optional.ofNullable(terms.get(device)).ifPresent(DeviceTerms::retired);
            Optional.ofNullable(keepers.get(device)).ifPresent(keeper -> keeper.tell(LimitKeeper.Measured.NOTHING));
            setup.attention().soon();
        }
        return onAnnounce();
    }

    private Behavior<Command> onForSessions(ForSessions command) {
        if (sessions.on(command.event())) {
            setup.attention().soon();
        }
        reportChangedJobs();
        return this;
    }

    private Behavior<Command> onCheckProcesses() {
        if (!sessions.removeGone().isEmpty()) {
            setup.attention().soon();
        }
        reportChangedJobs();
        return this;
    }

    /** At once, because ranks may be waiting for what comes of it. */
    private void reportChangedJobs() {
        Link to = link;
        if (to != null) {
            sessions.changedJobs(setup.node()).ifPresent(to.coordinator()::tell);
        }
    }

    private Behavior<Command> onHeld(Held command) {
        Enforcer.Found found = command.found();
        watch.found(found.instance(), found.facts());
        sessions.held(found.instance(), found.inForce());
        setup.attention().soon();
        return this;
    }

    private Behavior<Command> onKeeperStopped(KeeperStopped command) {
        LOG.error(
                "device={} reason=\"its keeper stopped; the worker stops, ranks keep their limits\"", command.device());
        setup.onKeeperLost().run();
        return Behaviors.stopped();
    }
}
