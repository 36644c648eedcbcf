package dev.ullage.common.protocol;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.OomLevel;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What every rank of a job is to do after one of them ran out of memory, or how its batch is shared out from now on;
 * one sequence of both, so that all ranks do them in one order. Absolute: the one with the highest sequence is the
 * whole of it, and says all that the next decision needs, so a new coordinator goes on from what workers hold.
 *
 * @param sequence of the job, 1 or more; each one is one move
 * @param step the step that failed and is to be run again; with {@code restart} the one to come back to
 * @param restart whether the processes end and are started again, and do it then
 * @param shares how the batch is shared out over the ranks; empty: evenly. A directive that only shares it out has the
 *     level {@code LIMIT} and no restart: whoever does not know shares does nothing but remember its sequence
 */
public record JobDirective(
        JobId job,
        long sequence,
        long step,
        OomLevel level,
        Sizes sizes,
        boolean restart,
        Cause cause,
        Optional<BatchShares> shares) {

    /** With the batch shared out evenly. */
    public JobDirective(
            JobId job, long sequence, long step, OomLevel level, Sizes sizes, boolean restart, Cause cause) {
        this(job, sequence, step, level, sizes, restart, cause, Optional.empty());
    }

    /** Whether nobody ran out of memory: it only shares the batch out anew. */
    public boolean isShareOrder() {
        return shares.filter(known -> known.since() == sequence).isPresent();
    }

    /** How many of the directives up to this one were about memory that ran out. */
    public long moves() {
        return sequence - shares.map(BatchShares::orders).orElse(0);
    }

    /**
     * How a rank cuts its batch from now on.
     *
     * @param microBatch most samples in a micro-batch, 1 or more; empty: as the user set it
     * @param accumulation micro-batches of a step, 1 or more; empty when the batch is not known
     */
    public record Sizes(OptionalInt microBatch, OptionalInt accumulation) {
        public static final Sizes AS_SET = new Sizes(OptionalInt.empty(), OptionalInt.empty());
    }

    /**
     * Why.
     *
     * @param rank who ran out
     * @param used what its allocator had handed out when it did
     * @param done the levels ordered for this job before and by this directive that may not be ordered again
     * @param reason for people: rank, phase, bytes asked, fragmentation, and the rule
     */
    public record Cause(int rank, Optional<MemoryBytes> used, List<OomLevel> done, String reason) {
        public Cause {
            done = List.copyOf(done);
        }
    }
}
