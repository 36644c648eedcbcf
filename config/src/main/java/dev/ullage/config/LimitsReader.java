package dev.ullage.config;

import static dev.ullage.config.ValueParsers.wholeNumber;

import com.typesafe.config.ConfigUtil;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.Share;
import dev.ullage.config.PolicySettings.Hybrid;
import dev.ullage.config.PolicySettings.Observed;
import dev.ullage.config.PolicySettings.Planned;
import dev.ullage.config.PolicySettings.PriorityPool;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** Reads {@code ullage.limits}: amounts, policies and what differs for single jobs. */
final class LimitsReader {
    private static final String LIMITS = "ullage.limits.";
    private static final String POLICIES = LIMITS + "policies.";
    private static final String MODEL_SIZE = POLICIES + "priority-pool.model-size";
    private static final String NEEDS_MODEL_SIZE = "must be set for the policy priority-pool, as in 4096MiB";
    private static final int MAX_STEPS = 1_000_000_000;
    private static final int MAX_EPOCHS = 1_000_000;

    private final SettingsReader reader;

    LimitsReader(SettingsReader reader) {
        this.reader = reader;
    }

    LimitSettings read() {
        return new LimitSettings(
                reader.value(LIMITS + "reserve", ValueParsers::share),
                reader.value(LIMITS + "minimum", ValueParsers::size),
                reader.value(LIMITS + "dead-band", ValueParsers::share),
                new PhaseShares(
                        phase("init"),
                        phase("forward"),
                        phase("backward"),
                        phase("optimizer"),
                        phase("evaluation"),
                        phase("checkpoint"),
                        phase("idle")),
                policies(),
                reader.value(LIMITS + "turns", ValueParsers.oneOf(TurnMode.class, TurnMode::label)),
                new TurnNeedSettings(
                        reader.value(
                                LIMITS + "turn-needs",
                                ValueParsers.oneOf(TurnNeedSettings.Source.class, TurnNeedSettings.Source::label)),
                        reader.value(LIMITS + "turn-slack", ValueParsers::share)));
    }

    private Share phase(String name) {
        return reader.value(LIMITS + "phases." + name, ValueParsers::share);
    }

    private PolicySettings policies() {
        JobTerms anyJob = anyJob();
        return new PolicySettings(
                anyJob,
                jobs(anyJob),
                new PriorityPool(
                        reader.value(POLICIES + "priority-pool.base", ValueParsers::modestSize),
                        reader.value(POLICIES + "priority-pool.high", ValueParsers::weight),
                        reader.value(POLICIES + "priority-pool.medium", ValueParsers::weight),
                        reader.value(POLICIES + "priority-pool.low", ValueParsers::weight)),
                hybrid(),
                new Observed(
                        reader.value(POLICIES + "observed.slack", ValueParsers::share),
                        reader.value(POLICIES + "observed.after-step", wholeNumber(1, MAX_STEPS)),
                        reader.value(POLICIES + "observed.predictor", ValueParsers::observedPredictor)),
                new Planned(
                        reader.value(POLICIES + "planned.slack", ValueParsers::share),
                        reader.value(POLICIES + "planned.after-step", wholeNumber(1, MAX_STEPS))));
    }

    private JobTerms anyJob() {
        JobTerms terms = new JobTerms(
                reader.value(LIMITS + "policy", ValueParsers::policy),
                reader.value(POLICIES + "priority-pool.priority", ValueParsers::priority),
                reader.value(MODEL_SIZE, ValueParsers::optionalSize),
                reader.value(POLICIES + "fixed.limit", ValueParsers::fixedLimit));
        if (terms.policy() == PolicyName.PRIORITY_POOL) {
            reader.require(MODEL_SIZE, () -> terms.modelSize().isPresent(), () -> NEEDS_MODEL_SIZE);
        }
        return terms;
    }

    private Hybrid hybrid() {
        int untilStep = reader.value(POLICIES + "hybrid.until-step", wholeNumber(1, MAX_STEPS));
        int epochs = reader.value(POLICIES + "hybrid.epochs", wholeNumber(0, MAX_EPOCHS));
        int stepsPerEpoch = reader.value(POLICIES + "hybrid.steps-per-epoch", wholeNumber(0, MAX_STEPS));
        reader.require(
                POLICIES + "hybrid.steps-per-epoch",
                () -> epochs > 0 || stepsPerEpoch == 0,
                () -> "must be set only when " + POLICIES + "hybrid.epochs is (" + epochs + ")");
        OptionalLong afterEpochs =
                stepsPerEpoch == 0 ? OptionalLong.empty() : OptionalLong.of((long) epochs * stepsPerEpoch);
        return new Hybrid(
                epochs == 0 ? OptionalLong.of(untilStep) : afterEpochs,
                epochs == 0 ? OptionalLong.empty() : OptionalLong.of(epochs),
                reader.value(POLICIES + "hybrid.ratio", ValueParsers::share));
    }

    /** What a job holds in a burst and outside of one: both amounts, or none. */
    private Optional<BurstNeed> need(String section) {
        Optional<MemoryBytes> persistent =
                reader.valueOr(section + ".persistent", ValueParsers::optionalSize, Optional.empty());
        Optional<MemoryBytes> peak = reader.valueOr(section + ".peak", ValueParsers::optionalSize, Optional.empty());
        List<Phase> phases =
                reader.listOr(section + ".burst-phases", ValueParsers::burstPhase, BurstNeed.DEFAULT_PHASES);
        boolean isBurst = persistent.isPresent()
                && peak.isPresent()
                && peak.get().isMoreThan(persistent.get())
                && !phases.isEmpty();
        reader.require(
                section,
                () -> isBurst || (persistent.isEmpty() && peak.isEmpty()),
                () -> "needs persistent, a peak that is more, and burst-phases that are not empty; or neither amount");
        MemoryBytes minimum = reader.value(LIMITS + "minimum", ValueParsers::size);
        reader.require(
                section,
                () -> persistent.isEmpty() || !minimum.isMoreThan(persistent.get()),
                () -> "has a persistent part that is less than " + LIMITS + "minimum (" + minimum + ")");
        return isBurst ? Optional.of(new BurstNeed(persistent.get(), peak.get(), phases)) : Optional.empty();
    }

    private NavigableMap<JobId, JobTerms> jobs(JobTerms anyJob) {
        NavigableMap<JobId, JobTerms> jobs = new TreeMap<>();
        for (String name : reader.namesIn(LIMITS + "jobs")) {
            String section = ConfigUtil.joinPath("ullage", "limits", "jobs", name);
            job(section, name).ifPresent(job -> jobs.put(job, terms(section, anyJob)));
        }
        return jobs;
    }

    private Optional<JobId> job(String section, String name) {
        try {
            return Optional.of(new JobId(name));
        } catch (IllegalArgumentException e) {
            reader.require(section, () -> false, () -> "must be named as a job is: " + e.getMessage());
            return Optional.empty();
        }
    }

    private JobTerms terms(String section, JobTerms anyJob) {
        Optional<MemoryBytes> modelSize =
                reader.valueOr(section + ".model-size", ValueParsers::optionalSize, anyJob.modelSize());
        JobTerms terms = new JobTerms(
                reader.valueOr(section + ".policy", ValueParsers::policy, anyJob.policy()),
                reader.valueOr(section + ".priority", ValueParsers::priority, anyJob.priority()),
                modelSize,
                reader.valueOr(section + ".limit", ValueParsers::fixedLimit, anyJob.limit()),
                need(section));
        if (terms.policy() == PolicyName.PRIORITY_POOL) {
            reader.require(
                    section,
                    modelSize::isPresent,
                    () -> "needs a model-size for the policy priority-pool, its own or " + MODEL_SIZE);
        }
        return terms;
    }
}
