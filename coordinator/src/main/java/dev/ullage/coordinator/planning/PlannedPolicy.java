package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.config.PolicySettings.Planned;
import dev.ullage.coordinator.planning.CorrectedNeeds.Trust;
import dev.ullage.coordinator.planning.Shares.RankShare;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * In each phase what the rank's estimate says, at its upper end, and once the rank has done some steps what
 * {@link CorrectedNeeds} makes of the estimate and of what was measured. Ranks of different pipeline stages bring
 * different estimates along, so they have different limits.
 *
 * <p>A rank without an estimate has an equal part. So has at least one whose allocator was refused memory lately: then
 * neither the estimate nor what was measured is its need.
 */
public final class PlannedPolicy implements LimitPolicy {
    private final Planned settings;
    private final MemoryBytes minimum;

    public PlannedPolicy(Planned settings, MemoryBytes minimum) {
        this.settings = settings;
        this.minimum = minimum;
    }

    /** @param phases empty: all of the claim in each */
    private record Wish(Claim claim, Optional<PhaseLimits> phases) {}

    @Override
    public Shares share(PlanningInput input) {
        List<Wish> wishes =
                input.ranks().stream().map(rank -> wish(rank, input)).toList();
        List<RankShare> settled = Claim.settle(wishes.stream().map(Wish::claim).toList(), input);
        List<RankShare> shares = new ArrayList<>();
        for (int i = 0; i < settled.size(); i++) {
            RankShare share = settled.get(i);
            shares.add(wishes.get(i).phases().map(share::atMost).orElseGet(share::sameInAllPhases));
        }
        return new Shares(shares);
    }

    private Wish wish(RankRequest rank, PlanningInput input) {
        if (rank.planned().isEmpty()) {
            String rule = "it was started without an estimate: %s over %s is %s"
                    .formatted(input.terms().budget(), input.rankCount(), input.equalPart());
            return new Wish(new Claim(rank, input.equalPart(), rule), Optional.empty());
        }
        CorrectedNeeds needs = CorrectedNeeds.of(rank.planned().get(), rank.observed(), settings);
        MemoryBytes floor = needs.trust() == Trust.CUT_SHORT ? input.equalPart().max(minimum) : minimum;
        MemoryBytes held = rank.observed().held().map(needs::whole).orElse(MemoryBytes.ZERO);
        MemoryBytes need = needs.highestWanted();
        MemoryBytes claimed = need.max(held).max(floor);
        PhaseLimits phases =
                PhaseLimits.of(phase -> needs.wanted(phase).orElse(claimed).max(floor));
        String raised = claimed.equals(need) ? "" : ", raised to " + claimed;
        return new Wish(new Claim(rank, claimed, rule(needs, need) + raised), Optional.of(phases));
    }

    private static String rule(CorrectedNeeds needs, MemoryBytes need) {
        PlannedNeeds planned = needs.planned();
        return "stage %d of %d, estimated at %s to %s; %s: %s, in other phases less"
                .formatted(
                        planned.stage(),
                        planned.stages(),
                        needs.plannedHighest().point(),
                        needs.plannedHighest().upper(),
                        needs.basis(),
                        highestPhase(needs, need)
                                .map(phase -> need + " in " + phase)
                                .orElse(need.toString()));
    }

    private static Optional<Phase> highestPhase(CorrectedNeeds needs, MemoryBytes need) {
        for (Phase phase : Phase.values()) {
            if (needs.wanted(phase).filter(need::equals).isPresent()) {
                return Optional.of(phase);
            }
        }
        return Optional.empty();
    }
}
