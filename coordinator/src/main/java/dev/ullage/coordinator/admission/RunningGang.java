package dev.ullage.coordinator.admission;

import dev.ullage.common.model.JobId;
import java.time.Instant;
import java.util.Optional;

/**
 * A job that has its room, or is being given it.
 *
 * @param claim what it has
 * @param endsAt when it gives it back, by the time it was submitted with; empty when it does not say, or it is not
 *     known since when it runs
 * @param isLeaving whether it is over, and its room is being given back: {@code endsAt} is when that is thought to be
 *     done, which moves on with every look until it is
 */
record RunningGang(JobId job, Claim claim, Optional<Instant> endsAt, boolean isLeaving) {

    static RunningGang of(JobId job, Claim claim, Optional<Instant> endsAt) {
        return new RunningGang(job, claim, endsAt, false);
    }

    /** A job that is over, with what it still has. */
    static RunningGang leaving(JobId job, Claim claim, Instant goneAt) {
        return new RunningGang(job, claim, Optional.of(goneAt), true);
    }

    /** Whether its room was to be free by then, as far as it goes by the job: what is leaving has kept its word. */
    boolean isDueBy(Instant time) {
        return isLeaving || endsAt.filter(end -> !end.isAfter(time)).isPresent();
    }

    /** When it ends as far as one can tell: one that is over its time tells nothing. */
    Optional<Instant> knownEnd(Instant now) {
        return endsAt.filter(end -> end.isAfter(now));
    }
}
