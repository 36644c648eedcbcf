package dev.ullage.coordinator.planning;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.config.BurstNeed;
import dev.ullage.coordinator.planning.ObservedNeeds.Seen;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What one rank needs by its last steps, and how that follows a new sample. Immutable, pure.
 *
 * <pre>
 *   outside    = the most allocated in a phase that is no burst, or held when a turn could not be ended for it
 *   persistent = max(outside + slack, minimum)
 *   peak       = max(allocated in the burst + slack, reserved in the burst)
 * </pre>
 *
 * Allocated, because outside of its burst an allocator keeps its cache as long as nobody takes turns: what it reserves
 * then is no need. Forward and backward pass are the burst. An evaluation or a checkpoint is one too as long as none
 * was seen, and from when one allocated more than the other phases outside: so the first one does not run into the
 * persistent limit.
 *
 * <p>An amount rises once half of its slack is used up and falls once it is too large by more than the slack, so that a
 * plan is not changed by noise. A request that was turned away says that the need is more than what was seen: what is
 * not known yet stays unknown as long as one is among the last steps, and a need that is known rises by the slack,
 * once, and does not fall meanwhile. Nothing else makes what is known unknown again.
 */
final class ObservedNeed {
    static final long FEWEST_STEPS = 10;
    private static final Set<Phase> BURST = EnumSet.copyOf(BurstNeed.DEFAULT_PHASES);
    private static final Set<Phase> OUTSIDE = EnumSet.of(Phase.OPTIMIZER, Phase.IDLE);
    private static final Set<Phase> RARE = EnumSet.of(Phase.EVALUATION, Phase.CHECKPOINT);

    private final Share slack;
    private final MemoryBytes minimum;
    /** Rare phases that allocated more than fits outside; never fewer. */
    private final Set<Phase> hot;

    private final boolean isRefused;
    private final Optional<Amounts> amounts;
    private final Seen seen;

    /** What is needed, both with slack. */
    private record Amounts(MemoryBytes persistent, MemoryBytes peak) {}

    /**
     * What the last steps did.
     *
     * @param outside the most outside of the burst
     * @param allocated the most in the burst
     * @param held what was reserved for that
     */
    private record Did(
            MemoryBytes outside, MemoryBytes allocated, MemoryBytes held, Set<Phase> burst, Set<Phase> hot) {}

    private ObservedNeed(ObservedNeed before, Set<Phase> hot, boolean isRefused, Optional<Amounts> amounts, Seen seen) {
        this.slack = before.slack;
        this.minimum = before.minimum;
        this.hot = hot;
        this.isRefused = isRefused;
        this.amounts = amounts;
        this.seen = seen;
    }

    private ObservedNeed(Share slack, MemoryBytes minimum) {
        this.slack = slack;
        this.minimum = minimum;
        this.hot = EnumSet.noneOf(Phase.class);
        this.isRefused = false;
        this.amounts = Optional.empty();
        this.seen = new Seen(Optional.empty(), "nothing was seen of it yet");
    }

    static ObservedNeed unknown(Share slack, MemoryBytes minimum) {
        return new ObservedNeed(slack, minimum);
    }

    Seen seen() {
        return seen;
    }

    ObservedNeed after(RankSample sample) {
        if (sample.watch().isEmpty()) {
            return without("its client or its worker does not watch its allocator");
        }
        RankWatch watch = sample.watch().get();
        long refusals = watch.allocator().refusals().orElse(sample.use().refusals());
        if (watch.progress().steps() < FEWEST_STEPS) {
            return without("%d of its steps were seen, it takes %d"
                    .formatted(watch.progress().steps(), FEWEST_STEPS));
        }
        if (refusals > 0 && amounts.isEmpty()) {
            return without("its allocator was refused %s in its last %s, so its peaks are its limit's"
                    .formatted(
                            Counts.of(refusals, "time"),
                            Counts.of(watch.progress().steps(), "step")));
        }
        Map<Phase, PhasePeak> peaks = new EnumMap<>(Phase.class);
        watch.phases().forEach(peak -> peaks.put(peak.phase(), peak));
        Optional<String> obstacle = obstacle(peaks);
        return obstacle.isPresent() ? without(obstacle.get()) : with(did(peaks, watch.lingering()), refusals > 0);
    }

    /** What is known stays so. */
    private ObservedNeed without(String why) {
        return amounts.isPresent()
                ? this
                : new ObservedNeed(this, hot, isRefused, amounts, new Seen(Optional.empty(), why));
    }

    private static Optional<String> obstacle(Map<Phase, PhasePeak> peaks) {
        for (Set<Phase> group : List.of(BURST, OUTSIDE)) {
            List<PhasePeak> found = peaks.values().stream()
                    .filter(peak -> group.contains(peak.phase()))
                    .toList();
            if (found.isEmpty()) {
                return Optional.of("none of the phases " + group + " was seen");
            }
            Optional<PhasePeak> unknown =
                    found.stream().filter(peak -> peak.allocated().isEmpty()).findFirst();
            if (unknown.isPresent()) {
                return Optional.of("what it allocates in %s is not (ullage.torch.attach with reset_peaks says it)"
                        .formatted(unknown.get().phase()));
            }
        }
        return Optional.empty();
    }

    private Did did(Map<Phase, PhasePeak> peaks, Optional<MemoryBytes> lingering) {
        MemoryBytes outside = most(peaks, OUTSIDE).max(lingering.orElse(MemoryBytes.ZERO));
        MemoryBytes fits =
                withSlack(outside).max(amounts.map(Amounts::persistent).orElse(MemoryBytes.ZERO));
        Set<Phase> burst = EnumSet.copyOf(BURST);
        Set<Phase> hotNow = EnumSet.noneOf(Phase.class);
        hotNow.addAll(hot);
        for (Phase phase : RARE) {
            Optional<MemoryBytes> allocated =
                    Optional.ofNullable(peaks.get(phase)).flatMap(PhasePeak::allocated);
            if (allocated.isPresent() && allocated.get().isMoreThan(fits)) {
                hotNow.add(phase);
            }
            if (allocated.isEmpty() || hotNow.contains(phase)) {
                burst.add(phase);
            } else {
                outside = outside.max(allocated.get());
            }
        }
        MemoryBytes held = peaks.values().stream()
                .filter(peak -> burst.contains(peak.phase()))
                .flatMap(peak -> peak.held().stream())
                .reduce(MemoryBytes.ZERO, MemoryBytes::max);
        return new Did(outside, most(peaks, burst), held, burst, hotNow);
    }

    private static MemoryBytes most(Map<Phase, PhasePeak> peaks, Set<Phase> phases) {
        return peaks.values().stream()
                .filter(peak -> phases.contains(peak.phase()))
                .flatMap(peak -> peak.allocated().stream())
                .reduce(MemoryBytes.ZERO, MemoryBytes::max);
    }

    private ObservedNeed with(Did did, boolean isRefusedNow) {
        MemoryBytes persistent = withSlack(did.outside()).max(minimum);
        MemoryBytes peak = withSlack(did.allocated()).max(did.held());
        Amounts next = amounts.map(before -> new Amounts(
                        settled(before.persistent(), persistent, usedUp(did.outside()), isRefusedNow),
                        settled(before.peak(), peak, usedUp(did.allocated()).max(did.held()), isRefusedNow)))
                .orElseGet(() -> new Amounts(persistent, peak));
        if (isRefusedNow && !isRefused) {
            next = new Amounts(withSlack(next.persistent()), withSlack(next.peak()));
        }
        return new ObservedNeed(this, did.hot(), isRefusedNow, Optional.of(next), seen(next, did));
    }

    private Seen seen(Amounts next, Did did) {
        String figures = "at most %s outside of its burst and %s in it, slack %s"
                .formatted(did.outside(), did.allocated(), slack);
        if (!next.peak().isMoreThan(next.persistent())) {
            return new Seen(Optional.empty(), "it has no burst: " + figures);
        }
        List<Phase> phases = new ArrayList<>(did.burst());
        Collections.sort(phases);
        return new Seen(Optional.of(new BurstNeed(next.persistent(), next.peak(), phases)), figures);
    }

    private MemoryBytes settled(MemoryBytes before, MemoryBytes target, MemoryBytes usedUp, boolean isRefusedNow) {
        boolean rises = usedUp.isMoreThan(before);
        boolean falls = !isRefusedNow && !withSlack(target).isMoreThan(before);
        return (rises && target.isMoreThan(before)) || falls ? target : before;
    }

    /** From where on half of the slack is used up. */
    private MemoryBytes usedUp(MemoryBytes amount) {
        return plus(amount, amount.times(new Share(slack.basisPoints() / 2)));
    }

    /** In whole MiB, rounded up. */
    private MemoryBytes withSlack(MemoryBytes amount) {
        MemoryBytes sum = plus(amount, amount.times(slack));
        long over = sum.value() % MemoryBytes.MEBIBYTE;
        return over == 0 ? sum : plus(sum, MemoryBytes.of(MemoryBytes.MEBIBYTE - over));
    }

    private static MemoryBytes plus(MemoryBytes amount, MemoryBytes more) {
        return amount.plus(more.min(MemoryBytes.of(Long.MAX_VALUE - amount.value())));
    }
}
