package dev.ullage.coordinator;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToCoordinator.StaleCoordinator;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.protocol.ToWorker.DesireLimits;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import dev.ullage.common.protocol.ToWorker.RankLimit;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import dev.ullage.coordinator.leadership.Leadership;
import dev.ullage.coordinator.leadership.LearnRequests;
import dev.ullage.coordinator.planning.DevicePlan;
import dev.ullage.coordinator.planning.LimitPlanner;
import dev.ullage.coordinator.planning.OperatorDesk;
import dev.ullage.coordinator.planning.OperatorDesk.Ruling;
import dev.ullage.coordinator.planning.OperatorWishes;
import dev.ullage.coordinator.planning.PlanGuard.Rule;
import dev.ullage.coordinator.planning.PlanOutcome;
import dev.ullage.coordinator.planning.PlanOutcome.Planned;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import dev.ullage.coordinator.planning.Situation;
import dev.ullage.coordinator.rollout.Rollout;
import dev.ullage.coordinator.rollout.Rollouts;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import dev.ullage.coordinator.view.NodeView;
import dev.ullage.coordinator.view.StatusAssembly;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.slf4j.Logger;

/**
 * Sees the cluster and tells every device's ledger which limits to work towards. Runs as a cluster singleton, and may
 * for a while run twice: tokens make the workers obey one, and the ledgers keep every device within its budget whatever
 * either of them says.
 *
 * <p>All of its state is soft and owned by this actor's thread: the workers say it again. Messages only change what is
 * known; plans are made and sent on the tick, so that a burst of reports is one plan and not many.
 *
 * <pre>
 *   WorkerAnnounced ----> view, leadership           tick:  forget the silent
 *   LimitsReported -----> view, rollouts, wishes            claim, learn, activate
 *   DeviceSampled ------> view                              plan --> rollouts
 *   StaleCoordinator ---> leadership                        find the stalled, send what is due
 *   SetReserve, SetShare -> wishes, answered at once
 *   StatusQuery --------> answered at once, in every state
 * </pre>
 */
public final class CoordinatorActor extends AbstractBehavior<CoordinatorActor.Command> {

    /** What this actor works on: messages off the wire, and its own tick. */
    sealed interface Command permits Received, Tick {}

    private record Received(ToCoordinator message) implements Command {}

    private enum Tick implements Command {
        INSTANCE
    }

    private final CoordinatorSettings settings;
    private final NodeId node;
    private final Clock clock;
    private final LimitPlanner planner;
    private final OperatorDesk desk;
    private final ActorRef<ToCoordinator> self;
    private final Logger log;

    private final NavigableMap<NodeId, ActorRef<ToWorker>> workers = new TreeMap<>();
    private final NavigableSet<NodeId> incompatible = new TreeSet<>();
    private final NavigableMap<DeviceId, Rule> heldBack = new TreeMap<>();
    private ClusterView view = ClusterView.EMPTY;
    private OperatorWishes wishes = OperatorWishes.NONE;
    private Rollouts rollouts = Rollouts.NONE;
    private LearnRequests requests = LearnRequests.NONE;
    private Leadership leadership;
    private long lastRevision;

    private CoordinatorActor(
            ActorContext<Command> context, ActorRef<ToCoordinator> self, Configuration configuration, String uid) {
        super(context);
        this.self = self;
        this.settings = configuration.settings();
        this.node = configuration.node();
        this.clock = configuration.clock();
        this.planner = LimitPlanner.rankShare(settings, configuration.limits());
        this.desk = new OperatorDesk(planner);
        this.log = context.getLog();
        this.leadership = Leadership.start(uid, clock.instant());
        log.info("leadership node={} state={} reason=started", node, leadership.state());
    }

    private record Configuration(CoordinatorSettings settings, LimitSettings limits, NodeId node, Clock clock) {}

    /**
     * Stops at a failure like any actor: whoever runs it restarts it, and it starts from nothing.
     *
     * @param uids gives each start of the actor an id that no other coordinator has
     * @param clock of this process alone; only differences of its readings matter, so one that is never set back is
     *     best
     */
    public static Behavior<ToCoordinator> create(
            CoordinatorSettings settings, LimitSettings limits, NodeId node, Supplier<String> uids, Clock clock) {
        Configuration configuration = new Configuration(settings, limits, node, clock);
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
        if (message instanceof WorkerAnnounced announced) {
            onAnnounced(announced, now);
        } else if (message instanceof LimitsReported report) {
            onReported(report, now);
        } else if (message instanceof DeviceSampled sample) {
            view = view.with(sample, now);
        } else if (message instanceof DeviceWatched watched) {
            view = view.with(watched, now);
        } else if (message instanceof StaleCoordinator stale) {
            onTokenSeen(stale.highest(), now);
        } else if (message instanceof StatusQuery query) {
            query.replyTo().tell(status(now));
        } else if (message instanceof SetReserve write) {
            decide(write.replyTo(), now, situation -> desk.setReserve(write.device(), write.reserve(), situation));
        } else if (message instanceof SetShare write) {
            decide(
                    write.replyTo(),
                    now,
                    situation -> desk.setShare(write.job(), write.rank(), write.share(), situation));
        } else {
            return Behaviors.unhandled();
        }
        return this;
    }

    private void onAnnounced(WorkerAnnounced announced, Instant now) {
        NodeId worker = announced.node();
        if (announced.protocolVersion() != Protocol.VERSION) {
            if (incompatible.add(worker)) {
                log.warn(
                        "worker ignored: node={} reason=it speaks protocol {}, this coordinator {}",
                        worker,
                        announced.protocolVersion(),
                        Protocol.VERSION);
            }
            return;
        }
        incompatible.remove(worker);
        announced.highestToken().ifPresent(token -> onTokenSeen(token, now));
        boolean known = announced.replyTo().equals(workers.put(worker, announced.replyTo()));
        if (!known) {
            logNewcomer(announced);
            requests = requests.forgetting(worker);
        }
        view = view.with(announced, now);
        if (!requests.wasAsked(worker)) {
            leadership.token().ifPresent(token -> learnFrom(worker, token, now));
        }
    }

    private void logNewcomer(WorkerAnnounced announced) {
        log.info(
                "worker announced: node={} devices={}",
                announced.node(),
                announced.devices().size());
        view.ownedByOthers(announced)
                .forEach(device -> log.warn(
                        "device ignored: device={} node={} reason=another node owns it", device, announced.node()));
    }

    private void onReported(LimitsReported report, Instant now) {
        view = view.with(report, now);
        report.token().ifPresent(token -> onTokenSeen(token, now));
        boolean counts = leadership.token().isPresent()
                && leadership.token().equals(report.token())
                && view.device(report.device())
                        .filter(device -> device.node().equals(report.node()))
                        .isPresent();
        if (counts) {
            wishes = wishes.learning(report.ledger().grants(), now);
            Optional<Rollout> before = rollouts.of(report.device());
            rollouts = rollouts.onReport(report, now);
            logProgress(before, rollouts.of(report.device()), now);
        }
    }

    private void logProgress(Optional<Rollout> before, Optional<Rollout> after, Instant now) {
        after.filter(rollout -> before.map(Rollout::state)
                        .filter(rollout.state()::equals)
                        .isEmpty())
                .ifPresent(rollout -> log.info(
                        "rollout {}: device={} token={} revision={} millis={} reason={}",
                        rollout.state(),
                        rollout.device(),
                        tokenOrNone(),
                        rollout.revision(),
                        rollout.status(now).millis(),
                        rollout.explain()));
    }

    private void onTokenSeen(CoordinatorToken seen, Instant now) {
        Leadership before = leadership;
        leadership = leadership.onTokenSeen(seen, now);
        if (leadership.state() != before.state()) {
            rollouts = rollouts.retiring(device -> true, now);
            wishes = OperatorWishes.NONE;
            requests = LearnRequests.NONE;
            heldBack.clear();
            log.warn(
                    "leadership lost: node={} token={} state={} reason=token {} was seen; claims again in {} ms",
                    node,
                    before.token().map(CoordinatorToken::toString).orElse("none"),
                    leadership.state(),
                    seen,
                    leadership.claimAfter(settings).toMillis());
        }
    }

    private void decide(ActorRef<ToOperator> replyTo, Instant now, Function<Situation, Ruling> rule) {
        if (!leadership.isActive()) {
            replyTo.tell(new Refused("refused: the coordinator is " + leadership.state()
                    + " and does not know the cluster yet; ask again in a moment"));
            return;
        }
        Ruling ruling = rule.apply(situation(leadership.token().orElseThrow(), now));
        wishes = ruling.wishes();
        replyTo.tell(ruling.isAccepted() ? new Accepted(ruling.message()) : new Refused(ruling.message()));
        log.info("operator: accepted={} reason={}", ruling.isAccepted(), ruling.message());
    }

    private ToOperator status(Instant now) {
        return new StatusAssembly(node, leadership.token(), leadership.state().name())
                .assemble(view, rollouts.states(), rollouts.statuses(now), now);
    }

    private Behavior<Command> onTick() {
        Instant now = clock.instant();
        forgetTheSilent(now);
        List<NodeId> missing =
                leadership.token().map(token -> missing(token, now)).orElse(List.of());
        Leadership before = leadership;
        leadership = leadership.onTick(!workers.isEmpty(), missing.isEmpty(), settings, now);
        if (leadership.state() != before.state()) {
            log.info("leadership node={} token={} state={}", node, tokenOrNone(), leadership.state());
        }
        leadership.token().ifPresent(token -> {
            requests.due(missing(token, now), now, settings.resendAfter())
                    .forEach(worker -> learnFrom(worker, token, now));
            if (leadership.isActive()) {
                plan(token, now);
                rollOut(token, now);
            }
        });
        return this;
    }

    private void forgetTheSilent(Instant now) {
        ClusterView before = view;
        view = view.forgetting(now, settings.forgetAfter());
        for (NodeView known : before.nodes()) {
            if (view.node(known.node()).isEmpty()) {
                workers.remove(known.node());
                requests = requests.forgetting(known.node());
                log.warn("worker forgotten: node={} reason=silent since {}", known.node(), known.heardAt());
            }
        }
        if (rollouts.states().keySet().stream().anyMatch(this::isGone)) {
            rollouts = rollouts.retiring(this::isGone, now);
        }
        heldBack.keySet().removeIf(this::isGone);
    }

    private boolean isGone(DeviceId device) {
        return view.device(device).isEmpty();
    }

    private List<NodeId> missing(CoordinatorToken token, Instant now) {
        return view.nodesToLearnFrom(token, now.minus(settings.staleAfter()));
    }

    private void learnFrom(NodeId worker, CoordinatorToken token, Instant now) {
        Optional.ofNullable(workers.get(worker)).ifPresent(ref -> {
            ref.tell(new LearnFrom(token, self));
            requests = requests.asked(worker, now);
            log.debug("learn from node={} token={}", worker, token);
        });
    }

    private void plan(CoordinatorToken token, Instant now) {
        wishes = wishes.remembering(view.jobs(), now);
        wishes.devices().stream()
                .filter(device -> isGone(device) || isReserveReported(device, token))
                .forEach(device -> wishes = wishes.withoutReserve(device));
        List<DevicePlan> plans = new ArrayList<>();
        for (PlanOutcome outcome : planner.plan(situation(token, now))) {
            if (outcome instanceof Planned planned) {
                heldBack.remove(planned.device());
                plans.add(planned.plan());
            } else if (outcome instanceof Vetoed vetoed) {
                logVeto(vetoed);
            }
        }
        if (!plans.isEmpty()) {
            rollouts = rollouts.planned(plans, lastRevision + 1, now);
            lastRevision += plans.size();
            plans.forEach(plan -> logPlan(plan, token));
        }
    }

    /** A plan on its way carries the wish; a report from before it says nothing about the wish. */
    private boolean isReserveReported(DeviceId device, CoordinatorToken token) {
        return rollouts.of(device).filter(Rollout::isOnItsWay).isEmpty()
                && view.device(device)
                        .filter(known -> known.obeys(token))
                        .flatMap(DeviceView::report)
                        .map(heard -> heard.message().ledger().wanted().reserve())
                        .equals(wishes.reserve(device));
    }

    private Situation situation(CoordinatorToken token, Instant now) {
        return new Situation(view, rollouts.onTheirWay(), wishes, token, now);
    }

    private void logPlan(DevicePlan plan, CoordinatorToken token) {
        log.info(
                "planned: device={} token={} revision={} reserve={} limits={} reason={}",
                plan.device(),
                token,
                rollouts.of(plan.device()).map(Rollout::revision).orElse(0L),
                plan.reserve(),
                plan.limits().stream()
                        .map(limit -> limit.instance().rank() + "=" + limit.limits())
                        .toList(),
                plan.reason());
    }

    private void logVeto(Vetoed vetoed) {
        Rule rule = vetoed.veto().rule();
        if (rule == Rule.STABILITY) {
            heldBack.remove(vetoed.device());
        } else if (heldBack.put(vetoed.device(), rule) != rule) {
            log.warn(
                    "plan held back: device={} rule={} reason={}",
                    vetoed.device(),
                    rule,
                    vetoed.veto().reason());
        }
    }

    private void rollOut(CoordinatorToken token, Instant now) {
        rollouts = rollouts.onTick(now, settings.stallAfter());
        rollouts.stalledAt(now)
                .forEach(stalled -> log.warn(
                        "rollout STALLED: device={} token={} revision={} reason={}",
                        stalled.device(),
                        token,
                        stalled.revision(),
                        stalled.explain()));
        List<DeviceId> sent = new ArrayList<>();
        for (Rollout due : rollouts.due(now, settings.resendAfter())) {
            view.device(due.device())
                    .flatMap(device -> Optional.ofNullable(workers.get(device.node())))
                    .ifPresent(worker -> {
                        worker.tell(desire(due, token));
                        sent.add(due.device());
                        log.debug("sent device={} token={} revision={}", due.device(), token, due.revision());
                    });
        }
        rollouts = rollouts.onSent(sent, now);
    }

    private DesireLimits desire(Rollout rollout, CoordinatorToken token) {
        List<RankLimit> limits = rollout.plan().limits().stream()
                .map(limit -> new RankLimit(limit.instance(), limit.limits(), limit.share()))
                .toList();
        return new DesireLimits(
                token, rollout.revision(), rollout.device(), rollout.plan().reserve(), limits, self);
    }

    private Behavior<Command> onStopped() {
        leadership = leadership.stepDown(clock.instant());
        log.info("leadership node={} state={} reason=stopped", node, leadership.state());
        return this;
    }

    private String tokenOrNone() {
        return leadership.token().map(CoordinatorToken::toString).orElse("none");
    }
}
