package dev.ullage.worker.ranks;

import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankEnforcement.Overhead;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch.CacheRelease;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobReport.Applied;
import dev.ullage.common.protocol.OomReport;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.worker.enforcement.OverheadEstimate;
import dev.ullage.worker.limits.LimitKeeper;
import dev.ullage.worker.watch.LifeAccount;
import dev.ullage.worker.watch.WatchedRank;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One process of a rank, from its first hello until the process is gone; connections come and go in between. All its
 * state is soft: the rank says it again, and its promises are the keeper's.
 */
public final class RankSession extends AbstractBehavior<RankSession.Command> {
    private static final Logger LOG = LoggerFactory.getLogger(RankSession.class);
    private static final Duration REPORT_INTERVAL = Duration.ofMillis(200);
    private static final int REPORT_AT_LEAST_EVERY = 5;

    /** What a session is told. */
    public sealed interface Command {}

    /** A connection said hello for this process; {@code welcome} makes its first line from the handle. */
    record Connected(RankMessage.Hello hello, RankChannel channel, Function<SessionHandle, byte[]> welcome)
            implements Command {}

    /** A connection ended. */
    record Disconnected(RankChannel channel) implements Command {}

    /** Something the rank said. */
    record Said(RankMessage message) implements Command {}

    /**
     * What the rank is to do after its job ran out of memory; told again on each connection.
     *
     * @param resumed whether the job was told before this process was known
     */
    record Direct(JobDirective directive, boolean resumed) implements Command {}

    /** The driver was asked what the rank's processes use on their device. */
    record Measured(MemoryBytes used, Instant at) implements Command {}

    /** What a mechanism outside the rank holds it to; empty: none does. */
    record Held(Optional<MemoryBytes> outside) implements Command {}

    /** The keeper orders new limits. */
    private record Ordered(Order order) implements Command {}

    /** The memory of its device was read: it may be time to give a cache back. */
    record DeviceRead(MemoryUse device) implements Command {}

    /** What the rank takes turns at has changed; empty: nothing. */
    private record Offered(Optional<RankTurn> turn) implements Command {}

    /** An operator wants its cache back. */
    record Release() implements Command {}

    private enum Report implements Command {
        INSTANCE
    }

    /**
     * What a session needs.
     *
     * @param handle makes the session's handle from its own reference
     * @param defaultOverhead what the process is taken to use beside its allocator until that is measured; empty where
     *     nothing is to be taken off its limits, as on a simulated device
     * @param listener receives what the rank says
     * @param watched what is kept of its memory; the session's own
     * @param whose account it keeps
     */
    record Setup(
            RankInstance instance,
            RankFacts facts,
            ActorRef<LimitKeeper.Command> keeper,
            TurnSeat seat,
            Function<ActorRef<Command>, SessionHandle> handle,
            Optional<MemoryBytes> defaultOverhead,
            Listener listener,
            RankCodec codec,
            WatchedRank watched,
            RankAccount.Whose whose,
            Clock clock) {}

    /** Who is told what the rank says. */
    interface Listener {
        /** What it last said of itself, at a bounded rate. */
        void sampled(RankSample sample);

        /** What it has come to, at a bounded rate. */
        void accounted(RankAccount account);

        /** It ran out of memory. */
        void ranOut(OomReport report);

        /** It did what it was directed to. */
        void applied(Applied applied, JobDirective directive);
    }

    private final Setup setup;
    private final SessionHandle handle;
    private final ActorRef<Order> orders;
    private RankFacts facts;
    private @Nullable RankChannel channel;
    private RankUse use = RankUse.UNKNOWN;
    private EnforcedBy enforcedBy = EnforcedBy.ADVISORY;
    private Optional<NeedsRestart> needsRestart = Optional.empty();
    private Optional<MemoryBytes> processUsed = Optional.empty();
    private OverheadEstimate overhead = OverheadEstimate.UNKNOWN;
    private Optional<Overhead> told = Optional.empty();
    private @Nullable Order newest;
    private Optional<MemoryBytes> outside = Optional.empty();
    private boolean waitsForRoom;
    private final LifeAccount account;
    private Instant lastHeard;
    private boolean changed = true;
    private SessionHandle.Entered lastEntered;
    private int quietReports;
    private @Nullable Direct directed;

    private RankSession(ActorContext<Command> context, Setup setup) {
        super(context);
        this.setup = setup;
        this.facts = setup.facts();
        this.handle = setup.handle().apply(context.getSelf());
        this.orders = context.messageAdapter(Order.class, Ordered::new);
        this.lastHeard = setup.clock().instant();
        this.account = new LifeAccount(lastHeard);
        this.lastEntered = handle.entered();
    }

    static Behavior<Command> create(Setup setup) {
        return Behaviors.setup(context -> Behaviors.withTimers(timers -> started(context, timers, setup)));
    }

    private static RankSession started(ActorContext<Command> context, TimerScheduler<Command> timers, Setup setup) {
        timers.startTimerWithFixedDelay(Report.INSTANCE, REPORT_INTERVAL);
        return new RankSession(context, setup);
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Said.class, this::onSaid)
                .onMessage(Ordered.class, this::onOrdered)
                .onMessage(Direct.class, this::onDirect)
                .onMessage(Offered.class, this::onOffered)
                .onMessage(Measured.class, this::onMeasured)
                .onMessage(Held.class, this::onHeld)
                .onMessage(Connected.class, this::onConnected)
                .onMessage(Disconnected.class, this::onDisconnected)
                .onMessage(DeviceRead.class, this::onDeviceRead)
                .onMessage(Release.class, release -> onRelease())
                .onMessageEquals(Report.INSTANCE, this::onReport)
                .onSignal(PostStop.class, signal -> onStopped())
                .build();
    }

    private Behavior<Command> onConnected(Connected command) {
        RankChannel old = channel;
        if (old != null) {
            old.close();
        }
        channel = command.channel();
        facts = command.hello().facts();
        // Before the welcome: what it asks after that is of a process whose turn is known.
        ActorRef<Command> self = getContext().getSelf();
        setup.seat().said(command.hello().turn(), command.hello().lastAsk(), turn -> self.tell(new Offered(turn)));
        command.channel().send(command.welcome().apply(handle));
        tellDirective();
        long sequence =
                command.hello().inForce().map(RankMessage.InForce::sequence).orElse(0L);
        // A process that was never limited may already hold memory: that is what it has "in force".
        MemoryBytes limit = command.hello()
                .inForce()
                .map(RankMessage.InForce::limit)
                .or(() -> command.hello().held())
                .orElse(MemoryBytes.ZERO);
        setup.keeper()
                .tell(new LimitKeeper.Joined(
                        setup.instance(),
                        sequence,
                        limit,
                        orders,
                        facts.policy(),
                        command.hello().planned()));
        return heard();
    }

    private Behavior<Command> onDisconnected(Disconnected command) {
        if (command.channel().equals(channel)) {
            channel = null;
            changed = true;
        }
        return this;
    }

    private Behavior<Command> onSaid(Said command) {
        if (command.message() instanceof RankMessage.PhaseEntered entered) {
            handle.enter(entered, setup.clock().instant());
        } else if (command.message() instanceof RankMessage.Usage usage) {
            onUsage(usage.use());
        } else if (command.message() instanceof RankMessage.Confirm confirm) {
            enforcedBy = confirm.enforcedBy();
            needsRestart = confirm.needsRestart();
            setup.keeper().tell(new LimitKeeper.Confirmed(setup.instance(), confirm.sequence(), confirm.inForce()));
        } else if (command.message() instanceof RankMessage.Watched step) {
            setup.watched().add(step.summary());
            setup.watched().watch().ifPresent(watch -> account.add(step.summary(), watch.allocator()));
        } else if (command.message() instanceof RankMessage.Reported counted) {
            // Told at once: these may be its last words.
            account.add(counted.report());
            tellAccount();
        } else if (command.message() instanceof RankMessage.SnapshotTaken taken) {
            setup.watched().add(taken.snapshot());
        } else if (command.message() instanceof RankMessage.CacheReleased released) {
            released.release().ifPresent(this::onReleased);
        } else if (command.message() instanceof RankMessage.RanOut out) {
            setup.listener()
                    .ranOut(new OomReport(
                            setup.instance(),
                            out.sequence(),
                            out.step(),
                            out.phase(),
                            out.kind(),
                            out.figures(),
                            out.means()));
        } else if (command.message() instanceof RankMessage.DirectiveApplied done) {
            done.directive().ifPresent(directed -> setup.listener()
                    .applied(new Applied(setup.instance(), directed.sequence(), done.used()), directed));
        }
        return heard();
    }

    private void onReleased(CacheRelease release) {
        setup.watched().add(release);
        LOG.info(
                "rank={} gained={} reason=\"cache released: {} held before, {} after\"",
                setup.instance(),
                release.gain(),
                release.before(),
                release.after());
    }

    private void tellAccount() {
        Instant now = setup.clock().instant();
        account.look(Optional.ofNullable(newest).map(Order::limits), use, now);
        setup.listener().accounted(account.account(setup.whose(), now));
    }

    private Behavior<Command> onDeviceRead(DeviceRead command) {
        account.device(command.device().total());
        if (channel != null && setup.watched().isToBeAskedForItsCache(command.device())) {
            channel.send(setup.codec().releaseCache());
            LOG.info(
                    "rank={} reason=\"asked for its cache: its memory is fragmented, {} of {} of the device are free\"",
                    setup.instance(),
                    command.device().free(),
                    command.device().allocatable());
        }
        return this;
    }

    private Behavior<Command> onRelease() {
        if (channel != null) {
            setup.watched().askedByAnOperator();
            channel.send(setup.codec().releaseCache());
            LOG.info("rank={} reason=\"asked for its cache: an operator wants it\"", setup.instance());
        }
        return this;
    }

    private Behavior<Command> onDirect(Direct command) {
        directed = command;
        tellDirective();
        return this;
    }

    private void tellDirective() {
        if (channel != null && directed != null) {
            channel.send(setup.codec().directive(directed.directive(), directed.resumed()));
        }
    }

    private void onUsage(RankUse reported) {
        use = reported;
        boolean isInitialised = handle.entered().activity().phase() != Phase.INIT;
        overhead = overhead.reported(
                reported.reserved(), isInitialised, setup.clock().instant());
        if (!overheadInForce().equals(told)) {
            order();
        }
    }

    private Behavior<Command> onMeasured(Measured command) {
        Optional<MemoryBytes> before = processUsed;
        processUsed = Optional.of(command.used());
        if (setup.defaultOverhead().isPresent()) {
            overhead = overhead.read(command.used(), command.at());
        }
        changed |= !processUsed.equals(before);
        return this;
    }

    private Optional<Overhead> overheadInForce() {
        return overhead.inForce(setup.defaultOverhead());
    }

    private Behavior<Command> heard() {
        lastHeard = setup.clock().instant();
        changed = true;
        return this;
    }

    private Behavior<Command> onOrdered(Ordered command) {
        boolean isRepeated =
                newest != null && newest.sequence() == command.order().sequence();
        newest = command.order();
        // More than what holds the rank from outside would be refused to it, until that is raised; the keeper says an
        // order again, so a mechanism that never answers holds up nobody for longer.
        waitsForRoom = !isRepeated && !hasRoom(command.order());
        if (!waitsForRoom) {
            order();
        }
        return this;
    }

    private Behavior<Command> onOffered(Offered command) {
        if (channel != null) {
            channel.send(setup.codec().turns(command.turn(), setup.seat().desk().deadline()));
        }
        return this;
    }

    private Behavior<Command> onHeld(Held command) {
        outside = command.outside();
        if (waitsForRoom && newest != null && hasRoom(newest)) {
            waitsForRoom = false;
            order();
        }
        return this;
    }

    private boolean hasRoom(Order order) {
        return outside.isEmpty() || !order.limits().max().isMoreThan(outside.get());
    }

    /** The newest order, with the overhead that leaves its allocator so much less; again when only that changed. */
    private void order() {
        told = overheadInForce();
        if (newest == null || waitsForRoom) {
            return;
        }
        handle.publish(newest);
        if (channel != null) {
            channel.send(setup.codec().limits(newest, told));
        }
    }

    private Behavior<Command> onReport() {
        quietReports++;
        changed |= !handle.entered().equals(lastEntered);
        account.look(
                Optional.ofNullable(newest).map(Order::limits),
                use,
                setup.clock().instant());
        if (changed || quietReports >= REPORT_AT_LEAST_EVERY) {
            quietReports = 0;
            changed = false;
            setup.listener().sampled(sample());
            tellAccount();
        }
        return this;
    }

    private RankSample sample() {
        lastEntered = handle.entered();
        Instant heard = lastEntered.at().isAfter(lastHeard) ? lastEntered.at() : lastHeard;
        long age = Duration.between(heard, setup.clock().instant()).toMillis();
        return new RankSample(
                setup.instance(),
                facts,
                lastEntered.activity(),
                use,
                enforcedBy,
                channel != null,
                Math.max(0, age),
                needsRestart,
                setup.watched().watch(),
                Optional.of(new RankEnforcement(processUsed, overheadInForce(), Optional.empty(), false, List.of())));
    }

    private Behavior<Command> onStopped() {
        Optional.ofNullable(channel).ifPresent(RankChannel::close);
        return this;
    }
}
