package dev.ullage.config;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Share;
import dev.ullage.common.model.Weight;
import java.util.Collections;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Which policy chooses the limits, and the parameters of each.
 *
 * @param anyJob for every job that has no terms of its own
 * @param jobs the terms of single jobs, complete
 */
public record PolicySettings(
        JobTerms anyJob,
        NavigableMap<JobId, JobTerms> jobs,
        PriorityPool priorityPool,
        Hybrid hybrid,
        Observed observed,
        Planned planned) {

    public PolicySettings {
        jobs = Collections.unmodifiableNavigableMap(new TreeMap<>(jobs));
    }

    /** With what {@code planned} does unless told otherwise. */
    public PolicySettings(
            JobTerms anyJob,
            NavigableMap<JobId, JobTerms> jobs,
            PriorityPool priorityPool,
            Hybrid hybrid,
            Observed observed) {
        this(anyJob, jobs, priorityPool, hybrid, observed, Planned.DEFAULTS);
    }

    /**
     * {@code request = model size x weight + base}.
     *
     * @param base what a rank needs beside its model
     */
    public record PriorityPool(MemoryBytes base, Weight high, Weight medium, Weight low) {

        public Weight weight(Priority priority) {
            return switch (priority) {
                case HIGH -> high;
                case MEDIUM -> medium;
                case LOW -> low;
            };
        }
    }

    /**
     * @param untilStep the step from which the ratio counts; empty: only epochs count
     * @param untilEpoch the epoch from which it counts, before any step, for a rank that reports its epochs
     * @param ratio of what the rank had while it could grow
     */
    public record Hybrid(OptionalLong untilStep, OptionalLong untilEpoch, Share ratio) {

        /** By steps alone. */
        public Hybrid(long untilStep, Share ratio) {
            this(OptionalLong.of(untilStep), OptionalLong.empty(), ratio);
        }
    }

    /**
     * @param slack on top of the peak, as a share of it
     * @param afterStep steps to wait for before a peak is believed: the first optimizer step allocates its state
     * @param predictor what a rank that counts no steps is given
     */
    public record Observed(Share slack, long afterStep, ObservedPredictor predictor) {

        /** By peaks alone. */
        public Observed(Share slack, long afterStep) {
            this(slack, afterStep, ObservedPredictor.PHASE_MAX);
        }
    }

    /**
     * @param slack on top of what was measured beside the planned state, as a share of it
     * @param afterStep steps to wait for before what was measured may lower a limit
     */
    public record Planned(Share slack, long afterStep) {
        public static final Planned DEFAULTS = new Planned(Share.ofPercent(10), 2);
    }

    public JobTerms of(JobId job) {
        return jobs.getOrDefault(job, anyJob);
    }

    public static PolicySettings defaults() {
        return new PolicySettings(
                new JobTerms(
                        PolicyName.RANK_SHARE, Priority.MEDIUM, Optional.empty(), FixedLimit.of(Share.ofPercent(80))),
                new TreeMap<>(),
                new PriorityPool(
                        MemoryBytes.ofMebibytes(2048), new Weight(15_000), new Weight(10_000), new Weight(7_000)),
                new Hybrid(1_000, Share.ofPercent(80)),
                new Observed(Share.ofPercent(10), 10));
    }
}
