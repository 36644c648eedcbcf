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
import dev.ullage.config.LimitSettings;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.PlanGuard.Proposal;
import dev.ullage.coordinator.planning.PlanOutcome.Planned;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import dev.ullage.coordinator.planning.Shares.RankShare;
import dev.ullage.coordinator.planning.TurnPlanner.Candidate;
import dev.ullage.coordinator.planning.TurnPlanner.TurnRuling;
import dev.ullage.coordinator.view.DeviceView;
import dev.ullage.coordinator.view.Heard;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

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
    private final LimitPolicy policy;
    private final LimitSettings settings;
    private final TurnPlanner turns;
    private final List<PlanGuard> guards;

    /** @param guards asked in this order; the first veto counts */
    public LimitPlanner(LimitPolicy policy, LimitSettings settings, List<PlanGuard> guards) {
        this.policy = policy;
        this.settings = settings;
        this.turns = new TurnPlanner(settings.turns(), TurnNeeds.declared());
        this.guards = List.copyOf(guards);
    }

    /** As below, where nobody follows what ranks use over time. */
    public static LimitPlanner of(CoordinatorSettings pace, LimitSettings limits) {
        return of(pace, limits, new RankDemands(ObservedPredictor.PHASE_MAX));
    }

    /** The policy of each job, with every guard. */
    public static LimitPlanner of(CoordinatorSettings pace, LimitSettings limits, RankDemands demands) {
        return new LimitPlanner(
                new PolicyByJob(limits, demands),
                limits,
                List.of(
                        new FreshnessGuard(pace.staleAfter()),
                        new MeasuredGuard(),
                        new MinimumLimitGuard(limits.minimum()),
                        new SampleGuard(),
                        new StabilityGuard(limits.deadBand())));
    }

    /** One outcome for each device whose ledger obeys the coordinator, in the order of the devices. */
    public List<PlanOutcome> plan(Situation situation) {
        List<DeviceView> devices = situation.view().devices().stream()
                .filter(device -> device.obeys(situation.token()))
                .toList();
        NavigableMap<DeviceId, TurnRuling> rulings = turns.rule(
                devices.stream().map(device -> candidate(device, situation)).toList());
        return devices.stream()
                .map(device -> plan(device, Objects.requireNonNull(rulings.get(device.id())), situation))
                .toList();
    }

    /** The device as it would be without turns. */
    private Candidate candidate(DeviceView device, Situation situation) {
        LedgerReport ledger = device.report().orElseThrow().message().ledger();
        BudgetTerms terms =
                ledger.wanted().withReserve(reserve(device, ledger, situation)).withPool(Optional.empty());
        List<RankRequest> ranks = ranks(device, ledger, situation.wishes());
        List<PlannedLimit> wanted = policy.share(new PlanningInput(device.id(), terms, ranks)).ranks().stream()
                .map(this::planned)
                .toList();
        List<PlannedLimit> limits = ledger.overBudget() ? notBelowTheMinimum(wanted) : wanted;
        return new Candidate(device.id(), device.node(), terms, ledger.turns().isPresent(), ranks, limits);
    }

    private static Share reserve(DeviceView device, LedgerReport ledger, Situation situation) {
        return situation.wishes().reserve(device.id()).orElse(ledger.wanted().reserve());
    }

    private PlanOutcome plan(DeviceView device, TurnRuling ruling, Situation situation) {
        Heard<LimitsReported> report = device.report().orElseThrow();
        LedgerReport ledger = report.message().ledger();
        Share reserve = reserve(device, ledger, situation);
        BudgetTerms terms =
                ledger.wanted().withReserve(reserve).withPool(ruling.turns().map(TurnPlan::pool));
        DeviceTarget before =
                situation.onItsWay(device.id()).map(DeviceTarget::of).orElseGet(() -> DeviceTarget.of(ledger));
        DevicePlan plan = new DevicePlan(
                device.id(),
                reserve,
                ruling.limits(),
                ruling.turns(),
                PlanChange.describe(before, reserve, ruling.limits(), ruling.turns(), terms));
        return judge(new Proposal(
                plan,
                before,
                terms,
                report.ageAt(situation.now()),
                device.sampleState(),
                unseen(device, ledger, situation.wishes())));
    }

    private List<RankRequest> ranks(DeviceView device, LedgerReport ledger, OperatorWishes wishes) {
        NavigableMap<RankInstance, RankObserved> observed = observed(device);
        return ledger.grants().stream()
                .map(grant -> request(grant, wishes, observed))
                .sorted(Comparator.comparing(RankRequest::instance))
                .toList();
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
        return new RankRequest(
                instance,
                wishes.share(instance.rank()).orElse(grant.share()),
                JobPolicies.terms(grant, settings.policies(), wishes),
                observed.getOrDefault(instance, RankObserved.NOTHING));
    }

    private List<RankInstance> unseen(DeviceView device, LedgerReport ledger, OperatorWishes wishes) {
        NavigableMap<RankInstance, RankObserved> observed = observed(device);
        return ledger.grants().stream()
                .filter(grant -> !observed.containsKey(grant.instance()))
                .filter(grant -> JobPolicies.terms(grant, settings.policies(), wishes)
                        .policy()
                        .looksAtRanks())
                .map(GrantReport::instance)
                .toList();
    }

    private static NavigableMap<RankInstance, RankObserved> observed(DeviceView device) {
        NavigableMap<RankInstance, RankObserved> observed = new TreeMap<>();
        device.sample().stream()
                .flatMap(heard -> heard.message().ranks().stream())
                .forEach(rank -> observed.put(rank.instance(), RankObserved.of(rank)));
        return observed;
    }

    private PlannedLimit planned(RankShare share) {
        return new PlannedLimit(
                share.rank().instance(),
                share.limits(settings.phases()),
                share.rank().share(),
                share.reason());
    }

    private PlanOutcome judge(Proposal proposal) {
        DevicePlan plan = proposal.plan();
        return guards.stream()
                .flatMap(guard -> guard.check(proposal).stream())
                .findFirst()
                .<PlanOutcome>map(veto -> new Vetoed(plan, veto))
                .orElseGet(() -> new Planned(plan));
    }
}
