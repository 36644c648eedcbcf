package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.JobTerms;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.coordinator.planning.DeviceInput.RankInput;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.PlanGuard.Proposal;
import dev.ullage.coordinator.planning.PlanGuard.Veto;
import dev.ullage.coordinator.planning.PlanOutcome.Planned;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import dev.ullage.coordinator.planning.Shares.RankShare;
import dev.ullage.coordinator.planning.TurnPlanner.Candidate;
import dev.ullage.coordinator.planning.TurnPlanner.TurnRuling;
import dev.ullage.coordinator.view.DeviceView;
import dev.ullage.coordinator.view.Heard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * From what is known and wished to a plan for every device that obeys this coordinator.
 *
 * <pre>
 *   newest report ---> terms, ranks --+
 *   newest sample ---> steps, peaks --+
 *                                     +--> policy chooses --> phases --> guards, in order --> Planned | Vetoed
 *   wishes ---------> reserve, shares +                                    ^
 *   plan on its way, else ledger's targets --------------------------------+
 * </pre>
 *
 * The ledger decides what is safe; a plan made from an old report is at worst refused by it.
 */
public final class LimitPlanner {
    private final RoomShares shares;
    private final LimitSettings settings;
    private final TurnPlanner turns;
    private final RankDemands demands;
    private final List<PlanGuard> guards;

    /** @param guards asked in this order; the first veto counts */
    public LimitPlanner(LimitPolicy policy, LimitSettings settings, List<PlanGuard> guards) {
        this(policy, settings, new RankDemands(ObservedPredictor.PHASE_MAX), guards);
    }

    private LimitPlanner(LimitPolicy policy, LimitSettings settings, RankDemands demands, List<PlanGuard> guards) {
        this.shares = new RoomShares(policy, settings.minimum());
        this.settings = settings;
        this.demands = demands;
        this.turns = new TurnPlanner(settings.turns(), TurnNeeds.by(settings.turnNeeds()));
        this.guards = List.copyOf(guards);
    }

    /** As below, where nobody follows what ranks use over time. */
    public static LimitPlanner of(CoordinatorSettings pace, LimitSettings limits) {
        return of(pace.staleAfter(), limits);
    }

    /** @param staleAfter age from which a ledger's report is no base for a plan */
    public static LimitPlanner of(Duration staleAfter, LimitSettings limits) {
        return of(staleAfter, limits, new RankDemands(ObservedPredictor.PHASE_MAX));
    }

    /**
     * The policy of each job, with every guard.
     *
     * @param staleAfter age from which a ledger's report is no base for a plan
     * @param demands of ranks that count no steps, where the settings want them
     */
    public static LimitPlanner of(Duration staleAfter, LimitSettings limits, RankDemands demands) {
        return new LimitPlanner(
                new PolicyByJob(limits),
                limits,
                demands,
                List.of(
                        new FreshnessGuard(staleAfter),
                        new MeasuredGuard(),
                        new MinimumLimitGuard(limits.minimum()),
                        new SampleGuard(),
                        new StabilityGuard(limits.deadBand())));
    }

    /** One outcome for each device whose ledger obeys the coordinator, in the order of the devices. */
    public List<PlanOutcome> plan(Situation situation) {
        return decide(situation).stream().map(Decided::outcome).toList();
    }

    /** The same, each with what it follows from. */
    public List<Decided> decide(Situation situation) {
        return decide(situation, new KeptPlans());
    }

    /**
     * The same.
     *
     * @param kept of this planner: what is not new since the last call with it is not worked out again
     */
    public List<Decided> decide(Situation situation, KeptPlans kept) {
        List<DeviceView> devices = new ArrayList<>();
        List<DeviceInput> inputs = new ArrayList<>();
        for (DeviceView device : situation.view().devices()) {
            if (device.obeys(situation.token())) {
                devices.add(device);
                inputs.add(kept.input(device, situation, demands, () -> input(device, situation)));
            }
        }
        kept.retain(inputs);
        List<Decided> decided = new ArrayList<>(inputs.size());
        for (DeviceInput input : ruled(devices, inputs, kept)) {
            DevicePlan plan =
                    kept.plan(input, changed -> plan(changed, () -> kept.limits(changed, this::withoutTurns)));
            decided.add(new Decided(input, judge(plan, input)));
        }
        return decided;
    }

    /** What was decided for a device, and from what. */
    public record Decided(DeviceInput input, PlanOutcome outcome) {}

    private DeviceInput input(DeviceView device, Situation situation) {
        OperatorWishes wishes = situation.wishes();
        Heard<LimitsReported> report = device.report().orElseThrow();
        LedgerReport ledger = report.message().ledger();
        Share reserve = wishes.reserve(device.id()).orElse(ledger.wanted().reserve());
        NavigableMap<RankInstance, RankObserved> observed = RankObserved.of(device);
        List<RankInput> ranks = new ArrayList<>(ledger.grants().size());
        for (GrantReport grant : ledger.grants()) {
            ranks.add(new RankInput(request(grant, wishes, observed), observed.containsKey(grant.instance())));
        }
        ranks.sort(Comparator.comparing(rank -> rank.request().instance()));
        return new DeviceInput(
                device.id(),
                ledger.wanted().withReserve(reserve).withPool(Optional.empty()),
                ledger.overBudget(),
                situation.onItsWay(device.id()).map(DeviceTarget::of).orElseGet(() -> DeviceTarget.of(ledger)),
                report.ageAt(situation.now()),
                device.sampleState(),
                ranks,
                Optional.empty(),
                KeptRoom.of(device.id(), ledger, situation.wanted(device.id())));
    }

    /** With what was ruled about turns where that changes anything: jobs on several devices have a part in it. */
    private List<DeviceInput> ruled(List<DeviceView> devices, List<DeviceInput> inputs, KeptPlans kept) {
        if (turns.isOff()) {
            return inputs;
        }
        NavigableMap<DeviceId, Candidate> candidates = new TreeMap<>();
        for (int i = 0; i < inputs.size(); i++) {
            candidate(devices.get(i), inputs.get(i), kept)
                    .ifPresent(candidate -> candidates.put(candidate.device(), candidate));
        }
        NavigableMap<DeviceId, TurnRuling> rulings = turns.rule(List.copyOf(candidates.values()));
        List<DeviceInput> ruled = new ArrayList<>();
        for (DeviceInput input : inputs) {
            Optional<TurnRuling> ruling = Optional.ofNullable(rulings.get(input.device()));
            Optional<List<PlannedLimit>> without =
                    Optional.ofNullable(candidates.get(input.device())).map(Candidate::limits);
            boolean changesNothing =
                    ruling.filter(known -> known.turns().isPresent()).isEmpty()
                            && ruling.map(TurnRuling::limits).equals(without);
            ruled.add(changesNothing ? input : input.ruled(ruling.orElseThrow()));
        }
        return ruled;
    }

    /** Where room is kept for whole jobs nobody takes turns: a pool would be taken from what was promised to them. */
    private Optional<Candidate> candidate(DeviceView device, DeviceInput input, KeptPlans kept) {
        if (input.room().filter(room -> !room.reserved().isEmpty()).isPresent()) {
            return Optional.empty();
        }
        boolean knowsTurns =
                device.report().orElseThrow().message().ledger().turns().isPresent();
        return Optional.of(new Candidate(
                input.device(),
                device.node(),
                input.terms(),
                knowsTurns,
                input.requests(),
                kept.limits(input, this::withoutTurns)));
    }

    private List<PlannedLimit> withoutTurns(DeviceInput input) {
        List<PlannedLimit> wanted =
                shares.share(input).stream().map(this::planned).toList();
        List<PlannedLimit> set =
                LimitOverrides.apply(wanted, input.requests(), input.terms().budget());
        return input.overBudget() ? notBelowTheMinimum(set) : set;
    }

    /** Looks at nothing but its argument and the settings. */
    public PlanOutcome decide(DeviceInput input) {
        return judge(plan(input, () -> withoutTurns(input)), input);
    }

    private static DevicePlan plan(DeviceInput input, Supplier<List<PlannedLimit>> withoutTurns) {
        TurnRuling ruling = input.ruling().orElseGet(() -> new TurnRuling(Optional.empty(), withoutTurns.get()));
        BudgetTerms terms = input.terms().withPool(ruling.turns().map(TurnPlan::pool));
        return new DevicePlan(
                input.device(),
                terms.reserve(),
                ruling.limits(),
                ruling.turns(),
                PlanChange.describe(input, ruling, terms));
    }

    /**
     * On a device that is over its budget every rank shrinks as far as it may. Were there no plan because a fair part
     * is less than the minimum, nobody would shrink, and the device would stay as far over its budget as it is.
     */
    private List<PlannedLimit> notBelowTheMinimum(List<PlannedLimit> limits) {
        return limits.stream()
                .map(limit -> new PlannedLimit(
                        limit.instance(),
                        PhaseLimits.of(phase -> limit.limits().in(phase).max(settings.minimum())),
                        limit.share(),
                        limit.reason()))
                .toList();
    }

    private RankRequest request(
            GrantReport grant, OperatorWishes wishes, NavigableMap<RankInstance, RankObserved> observed) {
        RankInstance instance = grant.instance();
        JobTerms terms = JobPolicies.terms(grant, settings.policies(), wishes);
        return new RankRequest(
                instance,
                wishes.share(instance.rank()).orElse(grant.share()),
                terms,
                observed.getOrDefault(instance, RankObserved.NOTHING).with(demands.of(instance)),
                JobPolicies.planned(grant, wishes),
                wishes.standing().limit(instance.rank()),
                terms.need().isPresent() ? Optional.empty() : demands.burst(instance));
    }

    private PlannedLimit planned(RankShare share) {
        return new PlannedLimit(
                share.rank().instance(),
                share.limits(settings.phases()),
                share.rank().share(),
                share.reason());
    }

    private PlanOutcome judge(DevicePlan plan, DeviceInput input) {
        Proposal proposal = new Proposal(
                plan,
                input.before(),
                input.terms().withPool(plan.turns().map(TurnPlan::pool)),
                input.reportAge(),
                input.sample(),
                input.unseen(),
                input.setLimits());
        for (PlanGuard guard : guards) {
            Optional<Veto> veto = guard.check(proposal);
            if (veto.isPresent()) {
                return new Vetoed(plan, veto.get());
            }
        }
        return new Planned(plan);
    }
}
