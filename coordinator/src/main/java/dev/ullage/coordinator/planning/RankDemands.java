package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.config.TurnMode;
import dev.ullage.coordinator.planning.predict.DemandPredictor;
import dev.ullage.coordinator.planning.predict.Prediction;
import dev.ullage.coordinator.planning.predict.Priced;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * What the ranks that count no steps will need, by what they held so far: services, whose phases say nothing. And what
 * the others need for turns ({@link ObservedNeeds}). Owned by the coordinator, which shows it the samples; policies and
 * planner read it. Soft: after a takeover it starts anew.
 *
 * <p>Time is cut into steps as long as those of the series the rule was tuned on, each with the most that was held in
 * it. The limit is believed once a rank was followed for {@link #NEWBORN_STEPS}; before, any rule misses every fifth
 * step. It is not believed for a while after the rank's allocator was refused memory: what it held since is its limit's
 * and not its need's, and with an equal part of the device the need shows again.
 */
public final class RankDemands {
    static final Duration STEP = Duration.ofSeconds(60);
    static final int NEWBORN_STEPS = 30;
    static final int STEPS_AFTER_REFUSAL = 10;

    private final ObservedPredictor predictor;
    private final Optional<ObservedNeeds> needs;
    private final NavigableMap<RankInstance, Followed> ranks = new TreeMap<>();

    /** Of ranks whose bursts nobody follows. */
    public RankDemands(ObservedPredictor predictor) {
        this(predictor, Optional.empty());
    }

    private RankDemands(ObservedPredictor predictor, Optional<ObservedNeeds> needs) {
        this.predictor = predictor;
        this.needs = needs;
    }

    /** What the settings say is to be followed. */
    public static RankDemands of(LimitSettings limits) {
        boolean areNeedsFollowed =
                limits.turns() == TurnMode.AUTO && limits.turnNeeds().areObserved();
        return new RankDemands(
                limits.policies().observed().predictor(),
                areNeedsFollowed
                        ? Optional.of(new ObservedNeeds(limits.turnNeeds().slack(), limits.minimum()))
                        : Optional.empty());
    }

    /**
     * @param limit empty: not known, or not to be believed now
     * @param explanation where the limit is from, or why there is none
     */
    public record Demand(Optional<MemoryBytes> limit, String explanation) {}

    /** One rank's series. */
    private static final class Followed {
        private final DemandPredictor predictor = new Priced(Priced.Settings.DEFAULTS);
        private Instant stepEnds;
        private MemoryBytes most;
        private long refusals;
        private int steps;
        private int stepsSinceRefusal = STEPS_AFTER_REFUSAL;
        private Optional<Prediction> prediction = Optional.empty();

        Followed(MemoryBytes held, long refusals, Instant now) {
            stepEnds = now.plus(STEP);
            most = held;
            this.refusals = refusals;
        }

        void observe(MemoryBytes held, long refusedSoFar, Instant now) {
            if (refusedSoFar > refusals) {
                stepsSinceRefusal = 0;
            }
            refusals = refusedSoFar;
            most = most.max(held);
            if (now.isBefore(stepEnds)) {
                return;
            }
            prediction = Optional.of(predictor.observe(most));
            most = held;
            stepEnds = now.plus(STEP);
            steps = Math.min(steps + 1, NEWBORN_STEPS);
            stepsSinceRefusal = Math.min(stepsSinceRefusal + 1, STEPS_AFTER_REFUSAL);
        }

        Demand demand() {
            if (steps < NEWBORN_STEPS) {
                return new Demand(
                        Optional.empty(),
                        "its use was followed for %d steps of %d s, its limit is believed from step %d on"
                                .formatted(steps, STEP.toSeconds(), NEWBORN_STEPS));
            }
            if (stepsSinceRefusal < STEPS_AFTER_REFUSAL) {
                return new Demand(
                        Optional.empty(),
                        "its allocator was refused %d steps of %d s ago, so its use was its limit's and not its need's"
                                .formatted(stepsSinceRefusal, STEP.toSeconds()));
            }
            return new Demand(
                    prediction.map(Prediction::limit),
                    "priced by its use in steps of %d s (it counts no steps of its own)".formatted(STEP.toSeconds()));
        }
    }

    /** Of a worker's sample; a rank that counts its steps, or does not say what it holds, is not followed. */
    public void observe(Collection<RankSample> samples, Instant now) {
        needs.ifPresent(followed -> followed.observe(samples));
        if (predictor == ObservedPredictor.PHASE_MAX) {
            return;
        }
        for (RankSample sample : samples) {
            if (sample.activity().step().isPresent()) {
                ranks.remove(sample.instance());
            } else {
                sample.use().held().ifPresent(held -> observe(sample, held, now));
            }
        }
    }

    private void observe(RankSample sample, MemoryBytes held, Instant now) {
        long refusals = sample.use().refusals();
        Followed known = ranks.get(sample.instance());
        if (known == null) {
            // A rank that was started again is another process, and its predecessor is gone.
            forgetting(other -> other.rank().equals(sample.instance().rank()));
            ranks.put(sample.instance(), new Followed(held, refusals, now));
        } else {
            known.observe(held, refusals, now);
        }
    }

    /** No rank is followed. */
    public boolean isEmpty() {
        return ranks.isEmpty() && needs.map(ObservedNeeds::isEmpty).orElse(true);
    }

    public void forgetting(Predicate<RankInstance> isGone) {
        needs.ifPresent(followed -> followed.forgetting(isGone));
        ranks.keySet().removeIf(isGone);
    }

    /** What the rank needs for turns; empty: nobody follows that. */
    public Optional<ObservedNeeds.Seen> burst(RankInstance rank) {
        return needs.map(followed -> followed.of(rank));
    }

    /** Empty: the rank is not followed. */
    public Optional<Demand> of(RankInstance rank) {
        return Optional.ofNullable(ranks.get(rank)).map(Followed::demand);
    }
}
