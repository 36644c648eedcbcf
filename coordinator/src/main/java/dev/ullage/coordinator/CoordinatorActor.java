package dev.ullage.coordinator;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.protocol.OperatorWrite;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.AccountsQuery;
import dev.ullage.common.protocol.ToCoordinator.CancelRequest;
import dev.ullage.common.protocol.ToCoordinator.DecisionsQuery;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.DevicesSampled;
import dev.ullage.common.protocol.ToCoordinator.EventsQuery;
import dev.ullage.common.protocol.ToCoordinator.HistoryQuery;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.RequestsQuery;
import dev.ullage.common.protocol.ToCoordinator.RequeueRequest;
import dev.ullage.common.protocol.ToCoordinator.ReservationRefused;
import dev.ullage.common.protocol.ToCoordinator.StaleCoordinator;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.common.protocol.ToCoordinator.WishesReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.protocol.ToWorker.CommitDevice;
import dev.ullage.common.protocol.ToWorker.DesireLimits;
import dev.ullage.common.protocol.ToWorker.DirectJob;
import dev.ullage.common.protocol.ToWorker.KeepWishes;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import dev.ullage.common.protocol.ToWorker.ReleaseCache;
import dev.ullage.common.protocol.ToWorker.ReleaseDevice;
import dev.ullage.common.protocol.ToWorker.ReserveDevice;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import dev.ullage.coordinator.CoordinatorEffect.Desire;
import dev.ullage.coordinator.CoordinatorEffect.Direct;
import dev.ullage.coordinator.CoordinatorEffect.Keep;
import dev.ullage.coordinator.CoordinatorEffect.Learn;
import dev.ullage.coordinator.CoordinatorEffect.Note;
import dev.ullage.coordinator.CoordinatorEffect.Recorded;
import dev.ullage.coordinator.CoordinatorEffect.Release;
import dev.ullage.coordinator.CoordinatorEffect.Room;
import dev.ullage.coordinator.journal.DecisionPages;
import dev.ullage.coordinator.journal.DecisionSink;
import dev.ullage.coordinator.planning.RankDemands;
import dev.ullage.coordinator.report.JobAccounts;
import dev.ullage.coordinator.rollout.Rollout;
import java.time.Clock;
import java.time.Instant;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * Sees the cluster and tells every device's ledger which limits to work towards. Runs as a cluster singleton, and may
 * for a while run twice: tokens make the workers obey one, and the ledgers keep every device within its budget whatever
 * either of them says.
 *
 * <p>All that is decided here {@link CoordinatorLogic} decides; this actor brings it messages and time, knows how each
 * worker is reached, and performs. All of its state is soft and owned by its thread. Plans are made and sent on the
 * tick, so that a burst of reports is one plan and not many.
 *
 * <pre>
 *   WorkerAnnounced ----> view, leadership           tick:  forget the silent
 *   LimitsReported -----> view, rollouts, wishes            claim, learn, activate
 *   DeviceSampled ------> view                              plan --> rollouts
 *   JobsReported -------> out-of-memory moves, decided and sent at once: the ranks wait for it
 *   StaleCoordinator ---> leadership                        find the stalled, send what is due
 *   WishesReported -----> wishes                            show workers what they are to keep
 *   OperatorWrite ------> wishes, or sent on; answered at once
 *   Submit-, Cancel-, RequeueRequest, RequestsQuery -> the queue, answered at once; who is placed, on the tick
 *   StatusQuery, EventsQuery, DecisionsQuery, HistoryQuery, AccountsQuery: answered at once, in every state
 * </pre>
 */
public final class CoordinatorActor extends AbstractBehavior<CoordinatorActor.Command> {

    /** What this actor works on: messages off the wire, and its own tick. */
    sealed interface Command permits Received, Tick {}

    private record Received(ToCoordinator message) implements Command {}

    private enum Tick implements Command {
        INSTANCE
    }

    private final Clock clock;
    private final ActorRef<ToCoordinator> self;
    private final Logger log;
    private final CoordinatorLogic logic;
    private final DecisionSink decisions;
    /** For reports alone: nothing is decided by them. */
    private final JobAccounts accounts = new JobAccounts();

    private final NavigableMap<NodeId, ActorRef<ToWorker>> workers = new TreeMap<>();

    private CoordinatorActor(
            ActorContext<Command> context, ActorRef<ToCoordinator> self, Configuration configuration, String uid) {
        super(context);
        this.self = self;
        this.clock = configuration.clock();
        this.log = context.getLog();
        this.decisions = configuration.decisions();
        this.logic = new CoordinatorLogic(
                configuration.settings(),
                configuration.limits(),
                configuration.demands().get(),
                configuration.node(),
                uid,
                clock.instant());
        perform();
    }

    private record Configuration(
            CoordinatorSettings settings,
            LimitSettings limits,
            NodeId node,
            Clock clock,
            DecisionSink decisions,
            Supplier<RankDemands> demands) {}

    /**
     * Stops at a failure like any actor: whoever runs it restarts it, and it starts from nothing.
     *
     * @param uids gives each start of the actor an id that no other coordinator has
     * @param clock of this process alone; only differences of its readings matter, so one that is never set back is
     *     best
     */
    public static Behavior<ToCoordinator> create(
            CoordinatorSettings settings, LimitSettings limits, NodeId node, Supplier<String> uids, Clock clock) {
        return create(
                settings,
                limits,
                node,
                uids,
                clock,
                DecisionSink.NONE,
                () -> new RankDemands(limits.policies().observed().predictor()));
    }

    /**
     * As above.
     *
     * @param decisions gets each decision once, in their order, on this actor's thread
     * @param demands makes what follows the ranks that count no steps, for each start of the actor
     */
    public static Behavior<ToCoordinator> create(
            CoordinatorSettings settings,
            LimitSettings limits,
            NodeId node,
            Supplier<String> uids,
            Clock clock,
            DecisionSink decisions,
            Supplier<RankDemands> demands) {
        Configuration configuration = new Configuration(settings, limits, node, clock, decisions, demands);
        return Behaviors.setup(outer -> Behaviors.transformMessages(
                ToCoordinator.class,
                Behaviors.<Command>setup(context -> Behaviors.withTimers(timers -> {
                    timers.startTimerWithFixedDelay(Tick.INSTANCE, settings.tick());
                    return new CoordinatorActor(context, outer.getSelf(), configuration, uids.get());
                })),
                builder -> builder.match(ToCoordinator.class, Received::new)));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Received.class, received -> onReceived(received.message()))
                .onMessageEquals(Tick.INSTANCE, this::onTick)
                .onSignal(PostStop.class, stopped -> onStopped())
                .build();
    }

    private Behavior<Command> onReceived(ToCoordinator message) {
        log.debug("received {}", message);
        Instant now = clock.instant();
        if (message instanceof SubmitRequest submit) {
            submit.replyTo().tell(logic.onRequest(submit, now));
        } else if (message instanceof CancelRequest cancel) {
            cancel.replyTo().tell(logic.onRequest(cancel, now));
        } else if (message instanceof RequeueRequest requeue) {
            requeue.replyTo().tell(logic.onRequest(requeue, now));
        } else if (message instanceof RequestsQuery query) {
            query.replyTo().tell(logic.onRequest(query, now));
        } else if (message instanceof WorkerAnnounced announced) {
            boolean isKnown = announced.replyTo().equals(workers.put(announced.node(), announced.replyTo()));
            logic.onAnnounced(announced, !isKnown, now);
        } else if (message instanceof LimitsReported report) {
            logic.onReported(report, now);
        } else if (message instanceof DeviceSampled sample) {
            logic.onSampled(sample, now);
        } else if (message instanceof DeviceWatched watched) {
            logic.onWatched(watched, now);
        } else if (message instanceof DevicesSampled round) {
            round.samples().forEach(sample -> logic.onSampled(sample, now));
            round.watched().forEach(watched -> logic.onWatched(watched, now));
        } else if (message instanceof StaleCoordinator stale) {
            logic.onStale(stale, now);
        } else if (message instanceof ReservationRefused refused) {
            logic.onReservationRefused(refused, now);
        } else if (message instanceof JobsReported jobs) {
            logic.onJobs(jobs, now);
            if (logic.view().node(jobs.node()).isPresent()) {
                accounts.observe(jobs, device -> logic.rollouts().of(device).map(Rollout::plan), now);
            }
        } else if (message instanceof WishesReported kept) {
            logic.onWishes(kept, now);
        } else if (message instanceof StatusQuery query) {
            query.replyTo().tell(logic.status(now));
        } else if (message instanceof EventsQuery query) {
            query.replyTo().tell(logic.events(query.after()));
        } else if (message instanceof HistoryQuery query) {
            query.replyTo().tell(logic.history(query));
        } else if (message instanceof DecisionsQuery query) {
            query.replyTo()
                    .tell(DecisionPages.answer(
                            logic.decisions(query.device(), query.job()), logic.isEveryDecisionKept(), query));
        } else if (message instanceof AccountsQuery query) {
            query.replyTo().tell(accounts.of(query.job(), now));
        } else if (message instanceof OperatorWrite write) {
            ToOperator answer = logic.onWrite(write, now);
            perform(); // what was accepted is on its way to the workers, which keep it, before anybody is told so
            write.replyTo().tell(answer);
        } else {
            return Behaviors.unhandled();
        }
        perform();
        return this;
    }

    private Behavior<Command> onTick() {
        logic.onTick(clock.instant());
        perform();
        workers.keySet().removeIf(worker -> logic.view().node(worker).isEmpty());
        return this;
    }

    private Behavior<Command> onStopped() {
        logic.onStopped(clock.instant());
        perform();
        return this;
    }

    private void perform() {
        for (CoordinatorEffect effect : logic.takeEffects()) {
            if (effect instanceof Learn learn) {
                send(learn.worker(), new LearnFrom(learn.token(), self, Optional.of(new ToWorker.Reads(true))));
            } else if (effect instanceof Desire desire) {
                send(
                        desire.worker(),
                        new DesireLimits(
                                desire.token(),
                                desire.revision(),
                                desire.device(),
                                desire.reserve(),
                                desire.limits(),
                                desire.turns(),
                                self));
            } else if (effect instanceof Direct direct) {
                send(direct.worker(), new DirectJob(direct.token(), direct.directive(), self));
            } else if (effect instanceof Room room) {
                send(room.send().node(), aboutRoom(room));
            } else if (effect instanceof Release release) {
                send(release.worker(), new ReleaseCache(release.token(), release.ranks(), self));
            } else if (effect instanceof Keep keep) {
                send(keep.worker(), new KeepWishes(keep.token(), keep.record()));
            } else if (effect instanceof Recorded recorded) {
                decisions.accept(recorded.decision());
            } else if (effect instanceof Note note) {
                log.atLevel(level(note)).log(note.format(), note.arguments().toArray());
            }
        }
    }

    private ToWorker aboutRoom(Room room) {
        DeviceId device = room.send().device();
        Reservation reservation = room.send().reservation();
        return switch (room.send().step()) {
            case RESERVE -> new ReserveDevice(room.token(), device, reservation, self);
            case COMMIT -> new CommitDevice(room.token(), device, reservation.id(), self);
            case RELEASE -> new ReleaseDevice(room.token(), device, reservation.id(), self);
        };
    }

    private void send(NodeId worker, ToWorker message) {
        Optional.ofNullable(workers.get(worker)).ifPresent(ref -> {
            ref.tell(message);
            log.debug("sent node={} message={}", worker, message);
        });
    }

    private static Level level(Note note) {
        return switch (note.severity()) {
            case INFO -> Level.INFO;
            case WARN -> Level.WARN;
        };
    }
}
