package dev.ullage.common.model;

/**
 * A training job's name: the launcher's run or job id, the same on every host of the job.
 *
 * @param value not blank, at most {@value #MAX_LENGTH} characters, none of them a control character
 */
public record JobId(String value) implements Comparable<JobId> {
    public static final int MAX_LENGTH = 200;

    public JobId {
        Names.requireName("a job's name", value, MAX_LENGTH);
    }

    @Override
    public int compareTo(JobId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
