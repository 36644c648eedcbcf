package dev.ullage.coordinator.planning;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.config.PolicySettings.Observed;
import dev.ullage.coordinator.planning.RankDemands.Demand;
import dev.ullage.coordinator.planning.Shares.RankShare;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * {@code limit of a phase = max(peak + floor(peak x slack), minimum)}, with the peak of that phase over the rank's last
 * steps, once it has done so many steps that its first optimizer step, which allocates the optimizer's state, is among
 * them. The highest of them, and what the rank holds now, is its limit. A phase that was not seen yet has all of it.
 *
 * <p>A rank that is not watched, or not for long enough since its worker's restart, has one peak, that of its whole
 * life, for all phases. Whenever peaks say nothing of the need (not known, too early, or cut short by the limit), the
 * limit is an equal part of the device.
 *
 * <p>A rank that counts no steps has, where the settings say so, the limit that {@link RankDemands} has for it.
 */
public final class ObservedPolicy implements LimitPolicy {
    /** In the first step every phase but the optimizer's is without the state that is held in all later steps. */
    private static final long FEWEST_STEPS = 2;

    /** So many steps tell what a phase needs, however late the peaks are to count; no worker looks at fewer. */
    private static final long ENOUGH_STEPS = 10;

    private final Observed settings;
    private final MemoryBytes minimum;

    public ObservedPolicy(Observed settings, MemoryBytes minimum) {
        this.settings = settings;
        this.minimum = minimum;
    }

    /** What a rank needs: in all phases, and in those of which it is known. */
    private record Need(Claim claim, Optional<PhaseLimits> phases) {}

    @Override
    public Shares share(PlanningInput input) {
        List<Need> needs = input.ranks().stream().map(rank -> need(rank, input)).toList();
        List<RankShare> settled = Claim.settle(needs.stream().map(Need::claim).toList(), input);
        List<RankShare> shares = new ArrayList<>();
        for (int i = 0; i < settled.size(); i++) {
            RankShare share = settled.get(i);
            shares.add(needs.get(i).phases().map(share::atMost).orElseGet(share::sameInAllPhases));
        }
        return new Shares(shares);
    }

    private Need need(RankRequest rank, PlanningInput input) {
        RankObserved observed = rank.observed();
        Map<Phase, MemoryBytes> peaks = peaks(observed);
        Optional<Demand> demand = observed.demand();
        Optional<Claim> byUse =
                demand.flatMap(known -> known.limit().map(limit -> byDemand(rank, limit, known.explanation())));
        if (byUse.isPresent()) {
            return new Need(byUse.get(), Optional.empty());
        }
        Optional<String> obstacle = demand.map(Demand::explanation).or(() -> obstacle(observed, peaks));
        if (obstacle.isPresent()) {
            String rule = "%s: %s over %s is %s"
                    .formatted(obstacle.get(), input.budget(), input.rankCount(), input.equalPart());
            return new Need(new Claim(rank, input.equalPart(), rule), Optional.empty());
        }
        return peaks.isEmpty() ? byLife(rank) : byPhase(rank, peaks);
    }

    private Claim byDemand(RankRequest rank, MemoryBytes need, String explanation) {
        MemoryBytes claimed =
                need.max(rank.observed().held().orElse(MemoryBytes.ZERO)).max(minimum);
        return new Claim(rank, claimed, raised("%s: %s".formatted(explanation, need), need, claimed));
    }

    private Need byLife(RankRequest rank) {
        MemoryBytes peak = rank.observed().peakReserved().orElseThrow();
        MemoryBytes need = withSlack(peak);
        MemoryBytes claimed =
                need.max(rank.observed().held().orElse(MemoryBytes.ZERO)).max(minimum);
        String rule = "peak of %s (of its whole life) + slack %s is %s".formatted(peak, settings.slack(), need);
        return new Need(new Claim(rank, claimed, raised(rule, need, claimed)), Optional.empty());
    }

    private Need byPhase(RankRequest rank, Map<Phase, MemoryBytes> peaks) {
        Map.Entry<Phase, MemoryBytes> highest = Collections.max(peaks.entrySet(), Map.Entry.comparingByValue());
        MemoryBytes peak = highest.getValue();
        MemoryBytes need = withSlack(peak);
        MemoryBytes claimed =
                need.max(rank.observed().held().orElse(MemoryBytes.ZERO)).max(minimum);
        PhaseLimits phases = PhaseLimits.of(phase -> Optional.ofNullable(peaks.get(phase))
                .map(this::withSlack)
                .orElse(claimed)
                .max(minimum));
        String rule = "peak of %s in %s over its last %s + slack %s is %s, in other phases by their own peaks"
                .formatted(peak, highest.getKey(), Counts.of(steps(rank.observed()), "step"), settings.slack(), need);
        return new Need(new Claim(rank, claimed, raised(rule, need, claimed)), Optional.of(phases));
    }

    private static String raised(String rule, MemoryBytes need, MemoryBytes claimed) {
        return claimed.equals(need) ? rule : rule + ", raised to %s".formatted(claimed);
    }

    /** Of the phases that were seen, in their order; none while too few steps were. */
    private Map<Phase, MemoryBytes> peaks(RankObserved observed) {
        Map<Phase, MemoryBytes> peaks = new EnumMap<>(Phase.class);
        if (steps(observed) >= Math.max(FEWEST_STEPS, Math.min(settings.afterStep(), ENOUGH_STEPS))) {
            for (PhasePeak peak : observed.watch().map(RankWatch::phases).orElse(List.of())) {
                peak.held().filter(held -> !held.isZero()).ifPresent(held -> peaks.put(peak.phase(), held));
            }
        }
        return peaks;
    }

    private static long steps(RankObserved observed) {
        return observed.watch().map(watch -> watch.progress().steps()).orElse(0L);
    }

    /** Why the peaks are no measure of what the rank needs. */
    private Optional<String> obstacle(RankObserved observed, Map<Phase, MemoryBytes> peaks) {
        boolean isWatched = !peaks.isEmpty();
        if (!isWatched && observed.peakReserved().filter(peak -> !peak.isZero()).isEmpty()) {
            return Optional.of("its peak is not known yet");
        }
        OptionalLong step = observed.step();
        if (step.isEmpty()) {
            return Optional.of("its step is not known, so its peak may be from before the first optimizer step");
        }
        if (step.getAsLong() < settings.afterStep()) {
            return Optional.of(
                    "step %d, peaks count from step %d on".formatted(step.getAsLong(), settings.afterStep()));
        }
        return isWatched ? refusedLately(observed) : refusedEver(observed);
    }

    private static Optional<String> refusedEver(RankObserved observed) {
        return observed.refusals() > 0
                ? Optional.of("its allocator was refused %s, so its peak is its limit's and not its need's"
                        .formatted(Counts.of(observed.refusals(), "time")))
                : Optional.empty();
    }

    /** Where the allocator does not count refusals by step, one at any time counts. */
    private static Optional<String> refusedLately(RankObserved observed) {
        OptionalLong lately =
                observed.watch().map(watch -> watch.allocator().refusals()).orElse(OptionalLong.empty());
        if (lately.isEmpty()) {
            return refusedEver(observed);
        }
        return lately.getAsLong() > 0
                ? Optional.of("its allocator was refused %s in its last %s, so its peaks are its limit's and"
                                .formatted(Counts.of(lately.getAsLong(), "time"), Counts.of(steps(observed), "step"))
                        + " not its need's")
                : Optional.empty();
    }

    private MemoryBytes withSlack(MemoryBytes peak) {
        MemoryBytes slack = peak.times(settings.slack());
        return peak.plus(slack.min(MemoryBytes.of(Long.MAX_VALUE - peak.value())));
    }
}
