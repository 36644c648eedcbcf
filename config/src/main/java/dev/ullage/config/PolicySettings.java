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
        Observed observed) {

    public PolicySettings {
        jobs = Collections.unmodifiableNavigableMap(new TreeMap<>(jobs));
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
