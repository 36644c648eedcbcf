package dev.ullage.config;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import java.util.Optional;

/**
 * By which policy a job's ranks get their limits, and what the settings say of the job.
 *
 * @param modelSize memory of its model; empty: not said
 * @param limit what the policy {@code fixed} gives it
 */
public record JobTerms(PolicyName policy, Priority priority, Optional<MemoryBytes> modelSize, FixedLimit limit) {

    public static JobTerms defaults() {
        return PolicySettings.defaults().anyJob();
    }

    public JobTerms withPolicy(PolicyName other) {
        return new JobTerms(other, priority, modelSize, limit);
    }

    public JobTerms withPriority(Priority other) {
        return new JobTerms(policy, other, modelSize, limit);
    }
}
