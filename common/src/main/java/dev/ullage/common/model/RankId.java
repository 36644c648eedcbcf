package dev.ullage.common.model;

import java.util.Comparator;

/**
 * A rank of a job. Not unique over time: a restarted rank is the same {@code RankId} in another process.
 *
 * @param job the job
 * @param rank global rank, 0 or more
 */
public record RankId(JobId job, int rank) implements Comparable<RankId> {
    private static final Comparator<RankId> ORDER =
            Comparator.comparing(RankId::job).thenComparingInt(RankId::rank);

    public RankId {
        if (rank < 0) {
            throw new IllegalArgumentException("rank must be 0 or more: " + rank);
        }
    }

    @Override
    public int compareTo(RankId other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return job + "/" + rank;
    }
}
