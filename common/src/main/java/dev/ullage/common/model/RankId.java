package dev.ullage.common.model;

/**
 * A rank of a job. Not unique over time: a restarted rank is the same {@code RankId} in another process.
 *
 * @param job the job
 * @param rank global rank, 0 or more
 */
public record RankId(JobId job, int rank) implements Comparable<RankId> {
    public RankId {
        if (rank < 0) {
            throw new IllegalArgumentException("rank must be 0 or more: " + rank);
        }
    }

    @Override
    public int compareTo(RankId other) {
        int byJob = job.compareTo(other.job);
        return byJob != 0 ? byJob : Integer.compare(rank, other.rank);
    }

    @Override
    public String toString() {
        return job + "/" + rank;
    }
}
