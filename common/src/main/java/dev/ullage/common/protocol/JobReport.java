package dev.ullage.common.protocol;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What one worker knows of a job's moves. The whole of it each time: the newest report replaces those before.
 *
 * @param worldSize ranks of the job, 1 or more, where they know
 * @param ranks the ranks with a process on this worker
 * @param newest the newest directive it was given
 * @param pending who ran out of memory and has had no newer directive since
 * @param applied who has done the newest directive
 */
public record JobReport(
        JobId job,
        OptionalInt worldSize,
        List<RankInstance> ranks,
        Optional<JobDirective> newest,
        List<OomReport> pending,
        List<Applied> applied) {
    public JobReport {
        ranks = List.copyOf(ranks);
        pending = List.copyOf(pending);
        applied = List.copyOf(applied);
    }

    /** @param used what the rank's allocator had handed out before it began the step again */
    public record Applied(RankInstance instance, long sequence, Optional<MemoryBytes> used) {}
}
