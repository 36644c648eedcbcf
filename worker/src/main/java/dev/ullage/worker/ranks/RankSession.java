package dev.ullage.worker.ranks;

import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankEnforcement.Overhead;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.worker.enforcement.OverheadEstimate;
import dev.ullage.worker.limits.LimitKeeper;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
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

/**
 * One process of a rank, from its first hello until the process is gone; connections come and go in between. All its
 * state is soft: the rank says it again, and its promises are the keeper's.
 */
public final class RankSession extends AbstractBehavior<RankSession.Command> {
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

    /** The driver was asked what the rank's processes use on their device. */
    record Measured(MemoryBytes used, Instant at) implements Command {}

    /** What a mechanism outside the rank holds it to; empty: none does. */
    record Held(Optional<MemoryBytes> outside) implements Command {}

    /** The keeper orders new limits. */
    private record Ordered(Order order) implements Command {}

    private enum Report implements Command {
        INSTANCE
    }

    /**
     * What a session needs.
     *
     * @param handle makes the session's handle from its own reference
     * @param defaultOverhead what the process is taken to use beside its allocator until that is measured; empty where
     *     nothing is to be taken off its limits, as on a simulated device
     * @param onSample receives what the rank last said, at a bounded rate
     */
    record Setup(
            RankInstance instance,
            RankFacts facts,
            ActorRef<LimitKeeper.Command> keeper,
            Function<ActorRef<Command>, SessionHandle> handle,
            Optional<MemoryBytes> defaultOverhead,
            Consumer<RankSample> onSample,
            RankCodec codec,
            Clock clock) {}

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
    private Instant lastHeard;
    private boolean changed = true;
    private SessionHandle.Entered lastEntered;
    private int quietReports;

    private RankSession(ActorContext<Command> context, Setup setup) {
        super(context);
        this.setup = setup;
        this.facts = setup.facts();
        this.handle = setup.handle().apply(context.getSelf());
        this.orders = context.messageAdapter(Order.class, Ordered::new);
        this.lastHeard = setup.clock().instant();
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
                .onMessage(Measured.class, this::onMeasured)
                .onMessage(Held.class, this::onHeld)
                .onMessage(Connected.class, this::onConnected)
                .onMessage(Disconnected.class, this::onDisconnected)
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
        command.channel().send(command.welcome().apply(handle));
        long sequence =
                command.hello().inForce().map(RankMessage.InForce::sequence).orElse(0L);
        // A process that was never limited may already hold memory: that is what it has "in force".
        MemoryBytes limit = command.hello()
                .inForce()
                .map(RankMessage.InForce::limit)
                .or(() -> command.hello().held())
                .orElse(MemoryBytes.ZERO);
        setup.keeper().tell(new LimitKeeper.Joined(setup.instance(), sequence, limit, orders));
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
        }
        return heard();
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
        processUsed = Optional.of(command.used());
        if (setup.defaultOverhead().isPresent()) {
            overhead = overhead.read(command.used(), command.at());
        }
        changed = true;
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
        if (changed || quietReports >= REPORT_AT_LEAST_EVERY) {
            quietReports = 0;
            changed = false;
            setup.onSample().accept(sample());
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
                Optional.of(new RankEnforcement(processUsed, overheadInForce(), Optional.empty(), false, List.of())));
    }

    private Behavior<Command> onStopped() {
        Optional.ofNullable(channel).ifPresent(RankChannel::close);
        return this;
    }
}
