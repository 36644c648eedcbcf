package dev.ullage.coordinator.planning;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.config.TurnMode;
import dev.ullage.coordinator.planning.predict.DemandPredictor;
import dev.ullage.coordinator.planning.predict.Newborn;
import dev.ullage.coordinator.planning.predict.Prediction;
import dev.ullage.coordinator.planning.predict.Priced;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * What the ranks that have done no step will need, by what they held so far: services, whose phases say nothing; the
 * client of one says step 0 for ever. And what the others need for turns ({@link ObservedNeeds}). Owned by the
 * coordinator, which shows it the samples; policies and planner read it. Soft: after a takeover it starts anew.
 *
 * <p>Time is cut into steps as long as those of the series the rule was tuned on, each with the most that was held in
 * it. Before a rank was followed for {@link Newborn#STEPS} its own past says little: then what others came to hold
 * counts, the other ranks of its job or else {@value #ENOUGH_OTHERS} or more of any; without them there is no limit. It
 * is not believed for a while after the rank's allocator was refused memory: what it held since is its limit's and not
 * its need's, and with an equal part of the device the need shows again.
 */
public final class RankDemands {
    static final Duration STEP = Duration.ofSeconds(60);
    /** How many ranks of other jobs must be known before they say something about a new one. */
    static final int ENOUGH_OTHERS = 5;

    static final int STEPS_AFTER_REFUSAL = 10;

    private final ObservedPredictor predictor;
    private final Supplier<DemandPredictor> makes;
    private final Optional<ObservedNeeds> needs;
    private final NavigableMap<RankInstance, Followed> ranks = new TreeMap<>();
    private long revision;
    private Grown grown = new Grown(0, new TreeMap<>(), Optional.empty());

    /**
     * Of a predictor that needs nothing else, and of ranks whose bursts nobody follows.
     *
     * @throws IllegalArgumentException the network has to be given
     */
    public RankDemands(ObservedPredictor predictor) {
        this(predictor, () -> new Priced(Priced.Settings.DEFAULTS));
        if (predictor == ObservedPredictor.LSTM) {
            throw new IllegalArgumentException("the network is no part of this: it must be given");
        }
    }

    /**
     * Of ranks whose bursts nobody follows.
     *
     * @param makes a predictor for one series
     */
    public RankDemands(ObservedPredictor predictor, Supplier<DemandPredictor> makes) {
        this(predictor, makes, Optional.empty());
    }

    private RankDemands(ObservedPredictor predictor, Supplier<DemandPredictor> makes, Optional<ObservedNeeds> needs) {
        this.predictor = predictor;
        this.makes = makes;
        this.needs = needs;
    }

    /** One that knows no rank yet, and follows bursts where the settings want it. */
    public RankDemands forTurns(LimitSettings limits) {
        boolean areNeedsFollowed =
                limits.turns() == TurnMode.AUTO && limits.turnNeeds().areObserved();
        return new RankDemands(
                predictor,
                makes,
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
        private final DemandPredictor predictor;
        private final String rule;
        private Instant stepEnds;
        private MemoryBytes most;
        private MemoryBytes mostEver;
        private long refusals;
        private int steps;
        private int stepsSinceRefusal = STEPS_AFTER_REFUSAL;
        private Optional<Prediction> prediction = Optional.empty();
        /** What follows from the prediction and the predictor alone, once somebody has asked. */
        private Optional<Demand> byUse = Optional.empty();

        Followed(DemandPredictor predictor, String rule, MemoryBytes held, long refusals, Instant now) {
            this.predictor = predictor;
            this.rule = rule;
            mostEver = held;
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
            mostEver = isNewborn() ? mostEver.max(held) : mostEver;
            if (now.isBefore(stepEnds)) {
                return;
            }
            prediction = Optional.of(predictor.observe(most));
            byUse = Optional.empty();
            most = held;
            stepEnds = now.plus(STEP);
            steps = Math.min(steps + 1, Newborn.STEPS);
            stepsSinceRefusal = Math.min(stepsSinceRefusal + 1, STEPS_AFTER_REFUSAL);
        }

        boolean isNewborn() {
            return steps < Newborn.STEPS;
        }

        /** @param others what others came to hold in their first steps, where enough of them are known */
        Demand demand(Optional<MemoryBytes> others) {
            if (isNewborn() && others.isEmpty()) {
                return new Demand(
                        Optional.empty(),
                        "its use was followed for %s of %d s, its limit is believed from step %d on"
                                .formatted(Counts.of(steps, "step"), STEP.toSeconds(), Newborn.STEPS));
            }
            if (stepsSinceRefusal < STEPS_AFTER_REFUSAL) {
                return new Demand(
                        Optional.empty(),
                        "its allocator was refused %s of %d s ago, so its use was its limit's and not its need's"
                                .formatted(Counts.of(stepsSinceRefusal, "step"), STEP.toSeconds()));
            }
            if (isNewborn()) {
                MemoryBytes reached = others.get();
                return new Demand(
                        Optional.of(Newborn.limit(mostEver, steps, reached)),
                        "new, in step %d of %d s, by its most so far of %s and the %s that the middle one of others reached"
                                .formatted(steps, STEP.toSeconds(), mostEver, reached));
            }
            Demand demand = byUse.orElseGet(() -> new Demand(
                    prediction.map(Prediction::limit),
                    "%s by its use in steps of %d s (it counts no steps of its own%s)"
                            .formatted(
                                    rule,
                                    STEP.toSeconds(),
                                    predictor.standIn().map(why -> "; " + why).orElse(""))));
            byUse = Optional.of(demand);
            return demand;
        }
    }

    /** Of a worker's sample; a rank that counts its steps, or does not say what it holds, is not followed. */
    public void observe(Collection<RankSample> samples, Instant now) {
        if (needs.isPresent()) {
            revision++;
            needs.get().observe(samples);
        }
        if (predictor == ObservedPredictor.PHASE_MAX) {
            return;
        }
        revision++;
        for (RankSample sample : samples) {
            if (sample.activity().step().orElse(0) > 0) {
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
            RankInstance.allOf(ranks, sample.instance().rank()).clear();
            ranks.put(sample.instance(), new Followed(makes.get(), rule(), held, refusals, now));
        } else {
            known.observe(held, refusals, now);
        }
    }

    private String rule() {
        return predictor == ObservedPredictor.LSTM ? "by the network lstm," : "priced";
    }

    /** No rank is followed. */
    public boolean isEmpty() {
        return ranks.isEmpty() && needs.map(ObservedNeeds::isEmpty).orElse(true);
    }

    /** Another number whenever {@link #of} or {@link #burst} may say something else of some rank. */
    long revision() {
        return revision;
    }

    public void forgetting(Predicate<RankInstance> isGone) {
        boolean isFollowedLess = ranks.keySet().removeIf(isGone);
        boolean isNeedForgotten =
                needs.filter(followed -> followed.forgetting(isGone)).isPresent();
        revision += isFollowedLess || isNeedForgotten ? 1 : 0;
    }

    /** What the rank needs for turns; empty: nobody follows that. */
    public Optional<ObservedNeeds.Seen> burst(RankInstance rank) {
        return needs.map(followed -> followed.of(rank));
    }

    /** Empty: the rank is not followed. */
    public Optional<Demand> of(RankInstance rank) {
        return Optional.ofNullable(ranks.get(rank))
                .map(followed -> followed.demand(
                        followed.isNewborn() ? grown().of(rank.rank().job()) : Optional.empty()));
    }

    /**
     * What the ranks that are no newborns came to hold in their first steps. For newborns alone, which are not among
     * them: so it is the same for all of a job, and made once for all that ask between two samples.
     *
     * @param revision of the ranks it is made from
     * @param byJob the middle one of each job
     * @param ofAny the middle one of all, where they are enough
     */
    private record Grown(long revision, NavigableMap<JobId, MemoryBytes> byJob, Optional<MemoryBytes> ofAny) {

        /** The ranks of its job say most about a newborn, whichever of them are known; else many of any job. */
        Optional<MemoryBytes> of(JobId job) {
            return Optional.ofNullable(byJob.get(job)).or(() -> ofAny);
        }
    }

    private Grown grown() {
        if (grown.revision() == revision) {
            return grown;
        }
        NavigableMap<JobId, List<MemoryBytes>> ofJobs = new TreeMap<>();
        List<MemoryBytes> ofAny = new ArrayList<>();
        ranks.forEach((instance, followed) -> {
            if (!followed.isNewborn()) {
                ofAny.add(followed.mostEver);
                ofJobs.computeIfAbsent(instance.rank().job(), job -> new ArrayList<>())
                        .add(followed.mostEver);
            }
        });
        NavigableMap<JobId, MemoryBytes> middles = new TreeMap<>();
        ofJobs.forEach((job, reached) -> Newborn.middle(reached).ifPresent(middle -> middles.put(job, middle)));
        grown = new Grown(revision, middles, ofAny.size() < ENOUGH_OTHERS ? Optional.empty() : Newborn.middle(ofAny));
        return grown;
    }
}
