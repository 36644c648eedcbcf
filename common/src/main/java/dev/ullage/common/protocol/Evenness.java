package dev.ullage.common.protocol;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankId;
import java.util.List;
import java.util.Optional;

/**
 * How evenly the ranks of each job and the devices are used, as the coordinator last looked at it.
 *
 * @param mode {@code suggest} or {@code on}
 * @param jobs those with a rank that is watched
 * @param devices those far above or below the mean
 * @param moves what moving a rank would bring; only suggestions
 */
public record Evenness(String mode, List<JobEvenness> jobs, List<FarDevice> devices, List<MoveSuggestion> moves) {
    public Evenness {
        jobs = List.copyOf(jobs);
        devices = List.copyOf(devices);
        moves = List.copyOf(moves);
    }

    /**
     * @param isUneven whether the largest rank was far above the median for some looks
     * @param skew of each phase that all ranks have told their peak of; empty: not known
     * @param samples of each rank in one step now, by rank; empty: not all ranks say so
     * @param proposal the batch shares that would even the job out; empty: none, for the reason in {@code explanation}
     */
    public record JobEvenness(
            JobId job,
            boolean isUneven,
            List<PhaseSkew> skew,
            List<Integer> samples,
            Optional<ShareProposal> proposal,
            String explanation) {
        public JobEvenness {
            skew = List.copyOf(skew);
            samples = List.copyOf(samples);
        }
    }

    /**
     * @param percent the largest peak in percent of the median, rounded down; 100: even
     * @param rank the one with the largest, the lowest where several have
     */
    public record PhaseSkew(Phase phase, int percent, int rank, MemoryBytes most, MemoryBytes median) {}

    /**
     * @param samples of each rank in one step, by rank; together the batch of the job
     * @param rounds micro-batches of each rank in one step
     * @param fullestBasisPoints how full the fullest rank is now, of what its device lets it hold; may be above 10,000
     * @param thenBasisPoints how full the fullest would be
     */
    public record ShareProposal(List<Integer> samples, int rounds, int fullestBasisPoints, int thenBasisPoints) {
        public ShareProposal {
            samples = List.copyOf(samples);
        }
    }

    /** @param fillBasisPoints the peaks of its ranks and foreign memory, of what is allocatable; likewise the mean */
    public record FarDevice(NodeId node, DeviceId device, int fillBasisPoints, int meanBasisPoints) {}

    /**
     * @param needs the most the rank held
     * @param fullerBasisPoints how full the fuller of the two devices is, and would be; likewise the mean of all
     */
    public record MoveSuggestion(
            RankId rank,
            DeviceId from,
            DeviceId to,
            MemoryBytes needs,
            int fullerBasisPoints,
            int fullerThenBasisPoints,
            int meanBasisPoints,
            int meanThenBasisPoints,
            String text) {}
}
