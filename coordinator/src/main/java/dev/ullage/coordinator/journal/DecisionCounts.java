package dev.ullage.coordinator.journal;

/**
 * What became of the decisions of this process.
 *
 * @param written records in the file, or that were there before it was rotated away
 * @param dropped records that never came into it: too many were waiting, or the disk failed
 */
public record DecisionCounts(long written, long dropped) {
    public static final DecisionCounts NONE = new DecisionCounts(0, 0);
}
