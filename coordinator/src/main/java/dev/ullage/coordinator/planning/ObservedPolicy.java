package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.config.PolicySettings.Observed;
import dev.ullage.coordinator.planning.RankDemands.Demand;
import dev.ullage.coordinator.planning.Shares.RankShare;
import java.util.Optional;

/**
 * {@code limit = max(held, peak + floor(peak x slack), minimum)}, once the rank has done so many steps that its first
 * optimizer step, which allocates the optimizer's state, is among them. Until then, and whenever its peak says nothing
 * of its need (not known, or cut short by the limit), an equal part of the device.
 *
 * <p>A rank reports one peak, that of its whole life. Peaks for each phase and over the last steps do not reach the
 * coordinator, so the limit is the same in every phase, and it does not fall while the process lives.
 *
 * <p>A rank that counts no steps has, where the settings say so, the limit that {@link RankDemands} has for it.
 */
public final class ObservedPolicy implements LimitPolicy {
    private final Observed settings;
    private final MemoryBytes minimum;
    private final RankDemands demands;

    /** @param demands of ranks that count no steps, where the settings want them */
    public ObservedPolicy(Observed settings, MemoryBytes minimum, RankDemands demands) {
        this.settings = settings;
        this.minimum = minimum;
        this.demands = demands;
    }

    @Override
    public Shares share(PlanningInput input) {
        return new Shares(Claim.settle(
                        input.ranks().stream().map(rank -> claim(rank, input)).toList(), input)
                .stream()
                .map(RankShare::sameInAllPhases)
                .toList());
    }

    private Claim claim(RankRequest rank, PlanningInput input) {
        Optional<Demand> demand = demands.of(rank.instance());
        Optional<Claim> priced =
                demand.flatMap(known -> known.limit().map(limit -> byDemand(rank, limit, known.explanation())));
        if (priced.isPresent()) {
            return priced.get();
        }
        Optional<String> obstacle = demand.map(Demand::explanation).or(() -> obstacle(rank.observed()));
        if (obstacle.isPresent()) {
            return new Claim(
                    rank,
                    input.equalPart(),
                    "%s: %s over %s is %s"
                            .formatted(obstacle.get(), input.terms().budget(), input.rankCount(), input.equalPart()));
        }
        MemoryBytes peak = rank.observed().peakReserved().orElseThrow();
        MemoryBytes held = rank.observed().held().orElse(MemoryBytes.ZERO);
        MemoryBytes need = saturatedSum(peak, peak.times(settings.slack()));
        MemoryBytes claimed = need.max(held).max(minimum);
        String rule = "peak of %s (of its whole life: peaks of single phases are not reported) + slack %s is %s"
                .formatted(peak, settings.slack(), need);
        return new Claim(rank, claimed, claimed.equals(need) ? rule : rule + ", raised to %s".formatted(claimed));
    }

    private Claim byDemand(RankRequest rank, MemoryBytes need, String explanation) {
        MemoryBytes claimed =
                need.max(rank.observed().held().orElse(MemoryBytes.ZERO)).max(minimum);
        String rule = "%s: %s".formatted(explanation, need);
        return new Claim(rank, claimed, claimed.equals(need) ? rule : rule + ", raised to %s".formatted(claimed));
    }

    /** Why the peak is no measure of what the rank needs. */
    private Optional<String> obstacle(RankObserved observed) {
        if (observed.peakReserved().filter(peak -> !peak.isZero()).isEmpty()) {
            return Optional.of("its peak is not known yet");
        }
        if (observed.step().isEmpty()) {
            return Optional.of("its step is not known, so its peak may be from before the first optimizer step");
        }
        if (observed.step().getAsLong() < settings.afterStep()) {
            return Optional.of("step %d, peaks count from step %d on"
                    .formatted(observed.step().getAsLong(), settings.afterStep()));
        }
        return observed.refusals() > 0
                ? Optional.of("its allocator was refused %d times, so its peak is its limit's and not its need's"
                        .formatted(observed.refusals()))
                : Optional.empty();
    }

    private static MemoryBytes saturatedSum(MemoryBytes left, MemoryBytes right) {
        return left.plus(right.min(MemoryBytes.of(Long.MAX_VALUE - left.value())));
    }
}
