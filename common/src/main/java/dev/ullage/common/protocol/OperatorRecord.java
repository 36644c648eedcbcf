package dev.ullage.common.protocol;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Share;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * All that operators asked for and that no ledger holds, as of one change. A coordinator makes a new one with each
 * change; every worker keeps the newest that it was shown, so that the next coordinator finds it there. Which of two is
 * newer is decided by the {@link Stamp} alone: whatever order they arrive in, the newest is what remains.
 *
 * <p>Bounded: at most {@link #MAX_DRAINS} nodes, {@link #MAX_JOBS} jobs and {@link #MAX_RANKS} ranks of all jobs
 * together, so that it fits into one message.
 *
 * @param drains in the order of the nodes
 * @param jobs in the order of the jobs
 */
public record OperatorRecord(Stamp stamp, List<Drain> drains, List<JobWish> jobs) {
    public static final int MAX_DRAINS = 256;
    public static final int MAX_JOBS = 256;
    public static final int MAX_RANKS = 1_024;

    public OperatorRecord {
        drains = List.copyOf(drains);
        jobs = List.copyOf(jobs);
    }

    /**
     * Which change a record is of.
     *
     * @param token of the coordinator that made it
     * @param sequence 1 or more; one more than that of the record it was made from
     */
    public record Stamp(CoordinatorToken token, long sequence) implements Comparable<Stamp> {
        private static final Comparator<Stamp> ORDER =
                Comparator.comparing(Stamp::token).thenComparingLong(Stamp::sequence);

        public Stamp {
            if (sequence < 1) {
                throw new IllegalArgumentException("sequence must be 1 or more: " + sequence);
            }
        }

        @Override
        public int compareTo(Stamp other) {
            return ORDER.compare(this, other);
        }

        /** For a log: {@code 3:c0ffee/17}. */
        @Override
        public String toString() {
            return token + "/" + sequence;
        }
    }

    /**
     * A node on which nothing new is to be placed.
     *
     * @param atMillis when that was asked for, by the clock of the coordinator's node, since 1970
     * @param reason why, in the operator's words
     * @param by who asked, as the asking program says; nobody checks it
     */
    public record Drain(NodeId node, long atMillis, Optional<String> reason, Optional<String> by) {
        private static final int MAX_REASON = 200;
        private static final int MAX_BY = 64;

        public Drain {
            reason.ifPresent(Drain::requireReason);
            by.ifPresent(Drain::requireBy);
        }

        /** @throws IllegalArgumentException when it is blank, longer than 200 characters or not one line */
        public static String requireReason(String reason) {
            return requireLine("a reason", reason, MAX_REASON);
        }

        /** @throws IllegalArgumentException when it is blank, longer than 64 characters or not one line */
        public static String requireBy(String by) {
            return requireLine("who asks", by, MAX_BY);
        }

        private static String requireLine(String what, String text, int max) {
            if (text.isBlank() || text.length() > max || text.chars().anyMatch(Character::isISOControl)) {
                throw new IllegalArgumentException(
                        what + " must be one line of 1 to " + max + " characters, without control characters");
            }
            return text;
        }
    }

    /**
     * What is wished for a job.
     *
     * @param share of every rank, also of those that come later, that has none of its own
     * @param policy by the name that the settings use
     * @param ranks in order
     */
    public record JobWish(
            JobId job,
            Optional<Share> share,
            Optional<String> policy,
            Optional<Priority> priority,
            List<RankWish> ranks) {
        public JobWish {
            ranks = List.copyOf(ranks);
        }
    }

    /**
     * What is wished for one rank.
     *
     * @param limit in the place of what its policy would give it, as far as there is room
     */
    public record RankWish(int rank, Optional<Share> share, Optional<MemoryBytes> limit) {}

    /** Whether whoever holds a record of that stamp, or none, lacks something. */
    public boolean isNewerThan(Optional<Stamp> held) {
        return held.isEmpty() || held.get().compareTo(stamp) < 0;
    }

    /** The newer of two. */
    public static Optional<OperatorRecord> newest(Optional<OperatorRecord> one, Optional<OperatorRecord> other) {
        return one.filter(first -> first.isNewerThan(other.map(OperatorRecord::stamp)))
                .or(() -> other);
    }
}
