package dev.ullage.coordinator;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.EventId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankId;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.OperatorWrite;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.HistoryQuery;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.ReservationRefused;
import dev.ullage.common.protocol.ToCoordinator.StaleCoordinator;
import dev.ullage.common.protocol.ToCoordinator.WishesReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.Events;
import dev.ullage.common.protocol.ToOperator.History;
import dev.ullage.common.protocol.ToOperator.Steering;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import dev.ullage.coordinator.CoordinatorEffect.Desire;
import dev.ullage.coordinator.CoordinatorEffect.Direct;
import dev.ullage.coordinator.CoordinatorEffect.Learn;
import dev.ullage.coordinator.CoordinatorEffect.Note;
import dev.ullage.coordinator.CoordinatorEffect.Recorded;
import dev.ullage.coordinator.decisions.Decision;
import dev.ullage.coordinator.decisions.Decision.Kind;
import dev.ullage.coordinator.decisions.Decision.Subject;
import dev.ullage.coordinator.decisions.DecisionBook;
import dev.ullage.coordinator.decisions.PlannerSettings;
import dev.ullage.coordinator.events.Change;
import dev.ullage.coordinator.events.EventKind;
import dev.ullage.coordinator.events.EventLog;
import dev.ullage.coordinator.events.Seen;
import dev.ullage.coordinator.history.UseHistory;
import dev.ullage.coordinator.leadership.Leadership;
import dev.ullage.coordinator.leadership.LearnRequests;
import dev.ullage.coordinator.oom.OomDesk;
import dev.ullage.coordinator.planning.DevicePlan;
import dev.ullage.coordinator.planning.LimitPlanner;
import dev.ullage.coordinator.planning.LimitPlanner.Decided;
import dev.ullage.coordinator.planning.OperatorDesk;
import dev.ullage.coordinator.planning.PlanOutcome.Planned;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import dev.ullage.coordinator.planning.RankDemands;
import dev.ullage.coordinator.planning.Situation;
import dev.ullage.coordinator.rollout.Rollout;
import dev.ullage.coordinator.rollout.Rollouts;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import dev.ullage.coordinator.view.NodeView;
import dev.ullage.coordinator.view.StatusAssembly;
import dev.ullage.coordinator.view.StatusAssembly.Plans;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * What a coordinator decides, without actor, clock or log: messages change what is known, plans are made and sent on
 * the tick. One owner, not thread safe. All state is soft: the workers say it again.
 *
 * <p>Effects are collected until {@link #takeEffects} and are to be performed in their order. A message that is
 * answered at once (a query, a write) has its answer as the result.
 */
public final class CoordinatorLogic {
    private final CoordinatorSettings settings;
    private final NodeId node;
    private final LastPlans plans;
    private final OperatorWrites writes;
    private final RankDemands demands;

    private final NavigableSet<NodeId> incompatible = new TreeSet<>();
    private List<CoordinatorEffect> effects = new ArrayList<>();
    private ClusterView view = ClusterView.EMPTY;
    private Rollouts rollouts = Rollouts.NONE;
    private OomDesk ooms = OomDesk.EMPTY;
    private LearnRequests requests = LearnRequests.NONE;
    private final EventLog events = new EventLog();
    private final UseHistory history = new UseHistory();
    private final DecisionBook book;
    private final HeldBack heldBack;
    private final EvennessWatch evenness;
    private final QueueLogic queue;
    private Leadership leadership;
    private long lastRevision;

    /**
     * @param demands that know no rank yet
     * @param uid an id that no other coordinator has, and no earlier start of this one had
     */
    public CoordinatorLogic(
            CoordinatorSettings settings,
            LimitSettings limits,
            RankDemands demands,
            NodeId node,
            String uid,
            Instant now) {
        this.settings = settings;
        this.node = node;
        this.demands = demands.forTurns(limits);
        LimitPlanner planner = LimitPlanner.of(settings.staleAfter(), limits, this.demands);
        this.plans = new LastPlans(planner, limits.policies());
        this.writes = new OperatorWrites(new OperatorDesk(planner), settings.resendAfter());
        this.book = new DecisionBook(PlannerSettings.of(settings.staleAfter(), limits));
        this.heldBack = new HeldBack(events, book);
        this.evenness = new EvennessWatch(settings.evenness(), events, book);
        this.queue = new QueueLogic(settings.queue(), limits);
        this.leadership = Leadership.start(uid, now);
        effects.add(Note.info("leadership node={} state={} reason=started", node, leadership.state()));
    }

    /** What is to be done since this was last asked. */
    public List<CoordinatorEffect> takeEffects() {
        List<CoordinatorEffect> taken = effects;
        effects = new ArrayList<>();
        return taken;
    }

    /** @param isNewcomer whether the worker is reached otherwise than before: it is another process, or joined again */
    public void onAnnounced(WorkerAnnounced announced, boolean isNewcomer, Instant now) {
        NodeId worker = announced.node();
        if (announced.protocolVersion() != Protocol.VERSION) {
            if (incompatible.add(worker)) {
                effects.add(Note.warn(
                        "worker ignored: node={} reason=it speaks protocol {}, this coordinator {}",
                        worker,
                        announced.protocolVersion(),
                        Protocol.VERSION));
            }
            return;
        }
        incompatible.remove(worker);
        announced.highestToken().ifPresent(token -> onTokenSeen(token, now));
        if (isNewcomer || view.node(worker).isEmpty()) {
            noteNewcomer(announced);
            writes.forgetting(worker);
            requests = requests.forgetting(worker);
        }
        view = view.with(announced, now);
        writes.announced(worker, announced.wishes());
        if (!requests.wasAsked(worker)) {
            leadership.token().ifPresent(token -> learnFrom(worker, token, now));
        }
    }

    private void noteNewcomer(WorkerAnnounced announced) {
        effects.add(Note.info(
                "worker announced: node={} devices={}",
                announced.node(),
                announced.devices().size()));
        view.ownedByOthers(announced)
                .forEach(device -> effects.add(Note.warn(
                        "device ignored: device={} node={} reason=another node owns it", device, announced.node())));
    }

    public void onReported(LimitsReported report, Instant now) {
        if (view.isOvertaken(report)) {
            return;
        }
        view = view.with(report, now);
        report.token().ifPresent(token -> onTokenSeen(token, now));
        boolean counts = leadership.token().isPresent()
                && leadership.token().equals(report.token())
                && view.device(report.device())
                        .filter(device -> device.node().equals(report.node()))
                        .isPresent();
        if (counts) {
            writes.learn(report.ledger().grants(), now);
            Optional<Rollout> before = rollouts.of(report.device());
            rollouts = rollouts.onReport(report, now);
            noteProgress(before, rollouts.of(report.device()), now);
        }
    }

    private void noteProgress(Optional<Rollout> before, Optional<Rollout> after, Instant now) {
        after.filter(rollout -> before.map(Rollout::state)
                        .filter(rollout.state()::equals)
                        .isEmpty())
                .ifPresent(rollout -> effects.add(Notes.progress(rollout, tokenOrNone(), now)));
    }

    /** For people, and for the policies that look at what ranks do; what is safe never rests on it. */
    public void onSampled(DeviceSampled sample, Instant now) {
        view = view.with(sample, now);
        boolean counts = view.device(sample.device())
                .filter(device -> device.node().equals(sample.node()))
                .isPresent();
        if (counts) {
            demands.observe(sample.ranks(), now);
        }
    }

    /** How far the readings of a device can be relied on. */
    public void onWatched(DeviceWatched watched, Instant now) {
        view = view.with(watched, now);
    }

    /** What a worker knows of its jobs' out-of-memory errors. Decided at once, not on the tick: the ranks wait. */
    public void onJobs(JobsReported reported, Instant now) {
        if (view.node(reported.node()).isEmpty()) {
            return; // of another version, or not announced yet; it reports again
        }
        ooms = ooms.with(reported, now);
        reported.token().ifPresent(token -> onTokenSeen(token, now));
        leadership.token().filter(token -> leadership.isActive()).ifPresent(token -> decideOoms(token, now));
    }

    private void decideOoms(CoordinatorToken token, Instant now) {
        OomDesk.Turn turn = ooms.turn(token, settings.resendAfter(), now);
        ooms = turn.desk();
        for (JobDirective directive : turn.decided()) {
            effects.add(Notes.outOfMemory(directive, token));
            About rank = About.rank(directive.job(), directive.cause().rank());
            events.add(
                    Change.warning(EventKind.OUT_OF_MEMORY, rank, directive.job() + ": " + Notes.move(directive)), now);
            effects.add(new Recorded(
                    book.other(Kind.OUT_OF_MEMORY, Subject.of(directive.job()), Notes.move(directive), token, now)));
        }
        turn.sends().forEach(send -> effects.add(new Direct(send.worker(), token, send.directive())));
    }

    /** What a worker keeps of operators' wishes: the newest record counts, whoever made it. */
    public void onWishes(WishesReported kept, Instant now) {
        onTokenSeen(kept.record().stamp().token(), now);
        writes.adopt(kept.record());
    }

    public void onStale(StaleCoordinator stale, Instant now) {
        onTokenSeen(stale.highest(), now);
    }

    /** Nothing is safe by it: the reports say what a device keeps for whom. */
    public void onReservationRefused(ReservationRefused refused, Instant now) {
        queue.refused(refused, now);
        effects.add(Note.info(
                "reservation refused: device={} id={} reason={}", refused.device(), refused.id(), refused.reason()));
    }

    private void onTokenSeen(CoordinatorToken seen, Instant now) {
        Leadership before = leadership;
        leadership = leadership.onTokenSeen(seen, now);
        if (leadership.state() != before.state()) {
            rollouts = rollouts.retiring(device -> true, now);
            writes.fenced();
            requests = LearnRequests.NONE;
            heldBack.clear();
            plans.clear();
            ooms = OomDesk.EMPTY;
            evenness.clear();
            queue.forget();
            effects.add(Note.warn(
                    "leadership lost: node={} token={} state={} reason=token {} was seen; claims again in {} ms",
                    node,
                    before.token().map(CoordinatorToken::toString).orElse("none"),
                    leadership.state(),
                    seen,
                    leadership.claimAfter(settings).toMillis()));
        }
    }

    /** What an operator asks for: ruled, answered and written down at once; carried out on the tick. */
    public ToOperator onWrite(OperatorWrite write, Instant now) {
        if (!leadership.isActive()) {
            return OperatorWrites.notYet(leadership.state());
        }
        CoordinatorToken token = leadership.token().orElseThrow();
        Optional<String> queued = queue.prioritized(write);
        OperatorWrites.Ruled ruled = queued.filter(text -> !writes.isAboutKnownRanks(write, view))
                .map(text -> writes.elsewhere(write, text))
                .orElseGet(() -> writes.rule(write, situation(token, now)));
        effects.add(new Recorded(
                book.other(Kind.OPERATOR, ruled.about(), ruled.ruling().message(), token, now)));
        effects.addAll(ruled.effects());
        events.add(ruled.change(), now);
        return ruled.answer();
    }

    public ClusterStatus status(Instant now) {
        return new StatusAssembly(node, leadership.token(), leadership.state().name())
                .assemble(
                        view,
                        new Plans(
                                rollouts.states(),
                                plans.explanations(),
                                rollouts.statuses(now),
                                ooms.status(now),
                                new Steering(
                                        evenness.status(),
                                        Optional.of(writes.wishes().standing().status()),
                                        Optional.of(queue.figures()))),
                        now);
    }

    /** Answers what concerns the queue of requests. */
    public ToOperator onRequest(ToCoordinator message, Instant now) {
        return queue.answer(message, view, leadership, now);
    }

    /** What happened after an event, or everything that is kept; answered in every state. */
    public Events events(Optional<EventId> after) {
        return events.after(after);
    }

    /** What was decided, newest first, of a device or a job or of all; answered in every state. */
    public List<Decision> decisions(Optional<DeviceId> device, Optional<JobId> job) {
        return book.find(device, job);
    }

    /** Whether {@link #decisions} has everything that this coordinator decided. */
    public boolean isEveryDecisionKept() {
        return book.isComplete();
    }

    /** The last minutes of a device; answered in every state. */
    public History history(HistoryQuery query) {
        return History.page(history.of(query.device()), query.offset(), query.limit());
    }

    public void onTick(Instant now) {
        forgetTheSilent(now);
        history.observe(view, now);
        List<NodeId> missing =
                leadership.token().map(token -> missing(token, now)).orElse(List.of());
        Leadership before = leadership;
        leadership = leadership.onTick(!view.nodes().isEmpty(), missing.isEmpty(), settings, now);
        if (leadership.state() != before.state()) {
            effects.add(Note.info("leadership node={} token={} state={}", node, tokenOrNone(), leadership.state()));
        }
        leadership.token().ifPresent(token -> {
            boolean isClaimed = !leadership.token().equals(before.token());
            requests.due(isClaimed ? missing(token, now) : missing, now, settings.resendAfter())
                    .forEach(worker -> learnFrom(worker, token, now));
            if (leadership.isActive()) {
                plan(token, now);
                effects.addAll(writes.spread(token, now));
                rollOut(token, now);
                ooms = evenness.turn(view, ooms, token, now, effects);
                decideOoms(token, now);
                QueueLogic.Turn turn = queue.tick(view, token, writes.wishes(), now);
                effects.addAll(turn.effects());
                turn.changes().forEach(change -> events.add(change, now));
            }
        });
        events.observe(
                new Seen(
                        node,
                        leadership,
                        view,
                        rollouts,
                        writes.wishes().standing().draining()),
                now);
    }

    private void forgetTheSilent(Instant now) {
        ClusterView before = view;
        view = view.forgetting(now, settings.forgetAfter());
        for (NodeView known : before.nodes()) {
            if (view != before && view.node(known.node()).isEmpty()) {
                requests = requests.forgetting(known.node());
                writes.forgetting(known.node());
                ooms = ooms.forgetting(known.node(), now);
                effects.add(
                        Note.warn("worker forgotten: node={} reason=silent since {}", known.node(), known.heardAt()));
            }
        }
        if (rollouts.devices().stream().anyMatch(this::isGone)) {
            rollouts = rollouts.retiring(this::isGone, now);
        }
        heldBack.forgetting(this::isGone);
        if (!demands.isEmpty()) {
            NavigableSet<RankId> known = view.ranks();
            demands.forgetting(instance -> !known.contains(instance.rank()));
        }
    }

    private boolean isGone(DeviceId device) {
        return view.device(device).isEmpty();
    }

    private List<NodeId> missing(CoordinatorToken token, Instant now) {
        return Stream.concat(
                        view.nodesToLearnFrom(token, now.minus(settings.staleAfter())).stream(),
                        writes.newerCopies().stream())
                .distinct()
                .toList();
    }

    private void learnFrom(NodeId worker, CoordinatorToken token, Instant now) {
        effects.add(new Learn(worker, token));
        requests = requests.asked(worker, now);
    }

    private void plan(CoordinatorToken token, Instant now) {
        writes.forgetFulfilled(view.jobs(), device -> isGone(device) || isReserveReported(device, token), now);
        List<Decided> changed = new ArrayList<>();
        for (Decided decided : plans.decide(situation(token, now))) {
            if (decided.outcome() instanceof Planned planned) {
                heldBack.planned(planned.device());
                changed.add(decided);
            } else if (decided.outcome() instanceof Vetoed vetoed) {
                effects.addAll(heldBack.vetoed(decided, vetoed, view, token, now));
            }
        }
        if (!changed.isEmpty()) {
            rollouts = rollouts.planned(
                    changed.stream().map(decided -> decided.outcome().plan()).toList(), lastRevision + 1, now);
            for (Decided decided : changed) {
                lastRevision++;
                notePlan(decided.outcome().plan(), token);
                effects.add(new Recorded(book.planned(decided, lastRevision, token, now)));
            }
        }
    }

    /** A plan on its way carries the wish; a report from before it says nothing about the wish. */
    private boolean isReserveReported(DeviceId device, CoordinatorToken token) {
        return rollouts.of(device).filter(Rollout::isOnItsWay).isEmpty()
                && view.device(device)
                        .filter(known -> known.obeys(token))
                        .flatMap(DeviceView::report)
                        .map(heard -> heard.message().ledger().wanted().reserve())
                        .equals(writes.wishes().reserve(device));
    }

    private Situation situation(CoordinatorToken token, Instant now) {
        return new Situation(view, rollouts.onTheirWay(), writes.wishes(), token, now, queue.wantedRoom());
    }

    private void notePlan(DevicePlan plan, CoordinatorToken token) {
        effects.add(Notes.planned(
                plan, token, rollouts.of(plan.device()).map(Rollout::revision).orElse(0L)));
    }

    private void rollOut(CoordinatorToken token, Instant now) {
        rollouts = rollouts.onTick(now, settings.stallAfter());
        rollouts.stalledAt(now)
                .forEach(stalled -> effects.add(Note.warn(
                        "rollout STALLED: device={} token={} revision={} reason={}",
                        stalled.device(),
                        token,
                        stalled.revision(),
                        stalled.explain())));
        List<DeviceId> sent = new ArrayList<>();
        for (Rollout due : rollouts.due(now, settings.resendAfter())) {
            view.device(due.device()).ifPresent(device -> {
                effects.add(Desire.of(device.node(), due, token));
                sent.add(due.device());
            });
        }
        rollouts = rollouts.onSent(sent, now);
    }

    /** Plans no more; every limit stays as it is. */
    public void onStopped(Instant now) {
        leadership = leadership.stepDown(now);
        effects.add(Note.info("leadership node={} state={} reason=stopped", node, leadership.state()));
    }

    private String tokenOrNone() {
        return leadership.token().map(CoordinatorToken::toString).orElse("none");
    }

    /** What is known of the cluster. */
    public ClusterView view() {
        return view;
    }

    /** Whether it may plan. */
    public Leadership leadership() {
        return leadership;
    }

    /** Where the plans stand. */
    public Rollouts rollouts() {
        return rollouts;
    }
}
