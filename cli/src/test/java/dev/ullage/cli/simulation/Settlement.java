package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.CoordinatorLogic;
import dev.ullage.coordinator.planning.PlanningInput;
import dev.ullage.coordinator.planning.RankRequest;
import dev.ullage.coordinator.planning.RankSharePolicy;
import dev.ullage.coordinator.planning.Shares;
import java.util.List;
import java.util.Optional;

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
        return world.devices().stream()
                .flatMap(device -> missing(device).stream())
                .findFirst();
    }

    private Optional<String> missing(SimulatedDevice device) {
        DeviceLedger ledger = device.ledger();
        if (device.keeper == null || ledger == null) {
            return Optional.of(device.info.id() + " has no keeper");
        }
        List<SimulatedRank> ranks = world.ranksOn(device);
        if (ledger.grants().size() != ranks.size()) {
            return Optional.of("%s knows %d ranks of %d"
                    .formatted(device.info.id(), ledger.grants().size(), ranks.size()));
        }
        Shares shares = shares(ledger);
        if (isHeldBack(shares)) {
            return ledger.isOverBudget() ? notYetShrunk(ranks, ledger) : Optional.empty();
        }
        if (!ledger.wanted().equals(ledger.inForce()) || ledger.isOverBudget()) {
            return Optional.of(device.info.id() + " does not have in force what is wanted: " + ledger.wanted());
        }
        return ranks.stream()
                .flatMap(rank -> missing(rank, ledger).stream())
                .findFirst()
                .or(() -> unfair(shares, ledger));
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

    private static Shares shares(DeviceLedger ledger) {
        List<RankRequest> requests = ledger.grants().stream()
                .map(grant -> new RankRequest(grant.instance(), grant.share()))
                .toList();
        return POLICY.share(new PlanningInput(ledger.device(), ledger.wanted(), requests));
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
    private boolean isHeldBack(Shares shares) {
        return shares.ranks().stream()
                .anyMatch(share -> world.limits().minimum().isMoreThan(share.limit()));
    }

    /** A target that is not what the planner would choose, but for what its dead band lets be. */
    private Optional<String> unfair(Shares shares, DeviceLedger ledger) {
        return shares.ranks().stream()
                .filter(share -> {
                    MemoryBytes target =
                            ledger.grant(share.rank().instance()).orElseThrow().targetMax();
                    MemoryBytes off = target.max(share.limit()).minus(target.min(share.limit()));
                    return off.isMoreThan(target.times(world.limits().deadBand()));
                })
                .map(share -> "%s should have %s".formatted(share.rank().instance(), share.limit()))
                .findFirst();
    }
}
