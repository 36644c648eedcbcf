package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.coordinator.CoordinatorLogic;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.PlanningInput;
import dev.ullage.coordinator.planning.RankObserved;
import dev.ullage.coordinator.planning.RankRequest;
import dev.ullage.coordinator.planning.RankSharePolicy;
import dev.ullage.coordinator.planning.TurnNeeds;
import dev.ullage.coordinator.planning.TurnPlanner;
import dev.ullage.coordinator.planning.TurnPlanner.Candidate;
import dev.ullage.coordinator.planning.TurnPlanner.TurnRuling;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Whether a cluster has come to rest where the planner wants it: what must be so some time after the last fault. */
final class Settlement {
    private static final RankSharePolicy POLICY = new RankSharePolicy();

    private final World world;

    Settlement(World world) {
        this.world = world;
    }

    /** What is not settled yet; empty when all is. */
    Optional<String> missing() {
        if (world.coordinators().stream()
                .flatMap(coordinator -> coordinator.logic().stream())
                .map(CoordinatorLogic::leadership)
                .noneMatch(leadership -> leadership.isActive())) {
            return Optional.of("no coordinator is active");
        }
        Map<DeviceId, TurnRuling> rulings = rulings();
        return world.devices().stream()
                .flatMap(device -> missing(device, rulings.get(device.info.id())).stream())
                .findFirst();
    }

    /** What the planner chooses for every device that has a ledger. */
    private Map<DeviceId, TurnRuling> rulings() {
        List<Candidate> candidates = new ArrayList<>();
        for (SimulatedDevice device : world.devices()) {
            Optional.ofNullable(device.ledger()).ifPresent(ledger -> candidates.add(candidate(device, ledger)));
        }
        return new TurnPlanner(world.limits().turns(), TurnNeeds.declared()).rule(candidates);
    }

    private Candidate candidate(SimulatedDevice device, DeviceLedger ledger) {
        BudgetTerms terms = ledger.wanted().withPool(Optional.empty());
        List<RankRequest> requests = ledger.grants().stream()
                .map(grant -> new RankRequest(
                        grant.instance(),
                        grant.share(),
                        world.limits().policies().of(grant.instance().rank().job()),
                        RankObserved.NOTHING))
                .toList();
        List<PlannedLimit> limits = POLICY.share(new PlanningInput(ledger.device(), terms, requests)).ranks().stream()
                .map(share -> new PlannedLimit(
                        share.rank().instance(),
                        share.limits(world.limits().phases()),
                        share.rank().share(),
                        share.reason()))
                .toList();
        return new Candidate(device.info.id(), world.hostOf(device).node, terms, true, requests, limits);
    }

    private Optional<String> missing(SimulatedDevice device, @Nullable TurnRuling ruling) {
        DeviceLedger ledger = device.ledger();
        if (device.keeper == null || ledger == null || ruling == null) {
            return Optional.of(device.info.id() + " has no keeper");
        }
        List<SimulatedRank> ranks = world.ranksOn(device);
        if (ledger.grants().size() != ranks.size()) {
            return Optional.of("%s knows %d ranks of %d"
                    .formatted(device.info.id(), ledger.grants().size(), ranks.size()));
        }
        if (isHeldBack(ruling)) {
            return ledger.isOverBudget() ? notYetShrunk(ranks, ledger) : Optional.empty();
        }
        if (!ledger.wanted().equals(ledger.inForce()) || ledger.isOverBudget()) {
            return Optional.of(device.info.id() + " does not have in force what is wanted: " + ledger.wanted());
        }
        if (!ledger.inForce().pool().equals(ruling.turns().map(TurnPlan::pool))) {
            return Optional.of("%s has a pool of %s, and should have %s"
                    .formatted(device.info.id(), ledger.inForce().pool(), ruling.turns()));
        }
        return ranks.stream()
                .flatMap(rank -> missing(rank, ledger).stream())
                .findFirst()
                .or(() -> unfair(ruling, ledger));
    }

    private static Optional<String> missing(SimulatedRank rank, DeviceLedger ledger) {
        Optional<Grant> grant = ledger.grant(rank.instance);
        if (grant.isEmpty() || grant.get().target().isEmpty()) {
            return Optional.of(rank.instance + " was never given a limit");
        }
        boolean isSettled = grant.get().isSettled()
                && !rank.client().isPending()
                && rank.inForceBytes() == grant.get().ceiling().value();
        return isSettled
                ? Optional.empty()
                : Optional.of("%s has %s in force, its grant is %s"
                        .formatted(rank.instance, rank.client().inForce(), grant.get()));
    }

    /** A device that cannot come within its budget goes as far as it can: to the minimum, or to what a rank holds. */
    private Optional<String> notYetShrunk(List<SimulatedRank> ranks, DeviceLedger ledger) {
        MemoryBytes least = world.limits().minimum();
        return ranks.stream()
                .flatMap(rank -> ledger.grant(rank.instance).stream())
                .filter(grant -> grant.targetMax()
                        .isMoreThan(least.plus(least.times(world.limits().deadBand()))))
                .map(grant -> "%s is over its budget, and %s was not told to shrink to %s"
                        .formatted(ledger.device(), grant, least))
                .findFirst();
    }

    /** Too little is left for every rank to have the minimum: there is no plan, and people are told so. */
    private boolean isHeldBack(TurnRuling ruling) {
        return ruling.limits().stream()
                .anyMatch(limit ->
                        world.limits().minimum().isMoreThan(limit.limits().max()));
    }

    /** A target that is not what the planner would choose, but for what its dead band lets be. */
    private Optional<String> unfair(TurnRuling ruling, DeviceLedger ledger) {
        return ruling.limits().stream()
                .filter(limit -> {
                    MemoryBytes target =
                            ledger.grant(limit.instance()).orElseThrow().targetMax();
                    MemoryBytes wanted = limit.limits().max();
                    MemoryBytes off = target.max(wanted).minus(target.min(wanted));
                    return off.isMoreThan(target.times(world.limits().deadBand()));
                })
                .map(limit -> "%s should have %s".formatted(limit.instance(), limit.limits()))
                .findFirst();
    }
}
