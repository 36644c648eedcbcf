package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PhaseShares;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.PlanGuard.Proposal;
import dev.ullage.coordinator.planning.PlanOutcome.Planned;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import dev.ullage.coordinator.planning.Shares.RankShare;
import dev.ullage.coordinator.view.DeviceView;
import dev.ullage.coordinator.view.Heard;
import java.util.Comparator;
import java.util.List;

/**
 * From what is known and wished to a plan for every device that obeys this coordinator.
 *
 * <pre>
 *   newest report ---> terms, ranks --+
 *                                     +--> policy chooses --> phases --> guards, in order --> Planned | Vetoed
 *   wishes ---------> reserve, shares +                                    ^
 *   plan on its way, else ledger's targets --------------------------------+
 * </pre>
 *
 * The ledger decides what is safe; a plan made from an old report is at worst refused by it.
 */
public final class LimitPlanner {
    private final LimitPolicy policy;
    private final PhaseShares phases;
    private final List<PlanGuard> guards;

    /** @param guards asked in this order; the first veto counts */
    public LimitPlanner(LimitPolicy policy, PhaseShares phases, List<PlanGuard> guards) {
        this.policy = policy;
        this.phases = phases;
        this.guards = List.copyOf(guards);
    }

    /** Equal parts for the ranks of a device, with every guard. */
    public static LimitPlanner rankShare(CoordinatorSettings pace, LimitSettings limits) {
        return new LimitPlanner(
                new RankSharePolicy(),
                limits.phases(),
                List.of(
                        new FreshnessGuard(pace.staleAfter()),
                        new MeasuredGuard(),
                        new MinimumLimitGuard(limits.minimum()),
                        new StabilityGuard(limits.deadBand())));
    }

    /** One outcome for each device whose ledger obeys the coordinator, in the order of the devices. */
    public List<PlanOutcome> plan(Situation situation) {
        return situation.view().devices().stream()
                .filter(device -> device.obeys(situation.token()))
                .map(device -> plan(device, situation))
                .toList();
    }

    private PlanOutcome plan(DeviceView device, Situation situation) {
        OperatorWishes wishes = situation.wishes();
        Heard<LimitsReported> report = device.report().orElseThrow();
        LedgerReport ledger = report.message().ledger();
        Share reserve = wishes.reserve(device.id()).orElse(ledger.wanted().reserve());
        BudgetTerms terms = ledger.wanted().withReserve(reserve);
        DeviceTarget before =
                situation.onItsWay(device.id()).map(DeviceTarget::of).orElseGet(() -> DeviceTarget.of(ledger));
        List<PlannedLimit> limits = limits(device.id(), terms, ledger, wishes);
        DevicePlan plan =
                new DevicePlan(device.id(), reserve, limits, PlanChange.describe(before, reserve, limits, terms));
        return judge(new Proposal(plan, before, terms, report.ageAt(situation.now()), device.sampleState()));
    }

    private List<PlannedLimit> limits(DeviceId device, BudgetTerms terms, LedgerReport ledger, OperatorWishes wishes) {
        List<RankRequest> ranks = ledger.grants().stream()
                .map(grant -> new RankRequest(
                        grant.instance(), wishes.share(grant.instance().rank()).orElse(grant.share())))
                .sorted(Comparator.comparing(RankRequest::instance))
                .toList();
        return policy.share(new PlanningInput(device, terms, ranks)).ranks().stream()
                .map(this::planned)
                .toList();
    }

    private PlannedLimit planned(RankShare share) {
        PhaseLimits limits = PhaseLimits.of(phase -> share.limit().times(phases.in(phase)));
        return new PlannedLimit(share.rank().instance(), limits, share.rank().share(), share.reason());
    }

    private PlanOutcome judge(Proposal proposal) {
        DevicePlan plan = proposal.plan();
        return guards.stream()
                .flatMap(guard -> guard.check(proposal).stream())
                .findFirst()
                .<PlanOutcome>map(veto -> new Vetoed(plan.device(), veto))
                .orElseGet(() -> new Planned(plan));
    }
}
