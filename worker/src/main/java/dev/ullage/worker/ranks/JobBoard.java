package dev.ullage.worker.ranks;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobReport;
import dev.ullage.common.protocol.JobReport.Applied;
import dev.ullage.common.protocol.OomReport;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What this worker knows of its jobs' moves after out-of-memory errors: the newest directive of each, who still waits
 * for one, and who has done it. Decides nothing but this: only the newest coordinator is listened to, and of a job's
 * directives only the newest counts. One owner, not thread safe. Soft, like the ranks it serves: a coordinator sends a
 * directive again, and a rank says again which one it follows.
 *
 * <p>Bounded: a report and an answer for each rank, one directive for each job, and of jobs without a rank (they may be
 * about to be started again) those of the last {@link #KEPT_FOR}, at most {@value #MAX_IDLE_JOBS}.
 */
public final class JobBoard {
    static final Duration KEPT_FOR = Duration.ofMinutes(10);
    static final int MAX_IDLE_JOBS = 256;

    private static final class Job {
        private final NavigableMap<RankInstance, OptionalInt> ranks = new TreeMap<>();
        private final NavigableMap<RankInstance, OomReport> pending = new TreeMap<>();
        private final NavigableMap<RankInstance, Applied> applied = new TreeMap<>();
        private @Nullable JobDirective newest;
        private Instant leftAt;

        private Job(Instant now) {
            leftAt = now;
        }

        private long sequence() {
            return newest == null ? 0 : newest.sequence();
        }

        private boolean take(JobDirective directive) {
            if (directive.sequence() <= sequence()) {
                return false;
            }
            newest = directive;
            pending.values().removeIf(report -> report.sequence() < directive.sequence());
            applied.values().removeIf(one -> one.sequence() < directive.sequence());
            return true;
        }

        private JobReport report(JobId id) {
            OptionalInt worldSize =
                    ranks.values().stream().flatMapToInt(OptionalInt::stream).max();
            return new JobReport(
                    id,
                    worldSize,
                    List.copyOf(ranks.keySet()),
                    Optional.ofNullable(newest),
                    List.copyOf(pending.values()),
                    List.copyOf(applied.values()));
        }
    }

    private final NavigableMap<JobId, Job> jobs = new TreeMap<>();
    private Optional<CoordinatorToken> token = Optional.empty();
    private boolean changed;

    /**
     * A process of a rank has registered; again after each of its connections. What it holds is known here with its
     * arrival: a coordinator that hears of all ranks has heard of every directive that any of them may follow.
     *
     * @param held the newest directive it holds
     * @return a directive that is newer than what the other ranks were told
     */
    public Optional<JobDirective> joined(
            RankInstance instance, OptionalInt worldSize, Optional<JobDirective> held, Instant now) {
        Job job = job(instance, now);
        OptionalInt before = job.ranks.put(instance, worldSize);
        Optional<JobDirective> news = held.filter(job::take);
        changed |= !worldSize.equals(before) || news.isPresent();
        return news;
    }

    /** A process is gone: what it said is of no use to anyone any more. */
    public void left(RankInstance instance, Instant now) {
        Job job = jobs.get(instance.rank().job());
        if (job == null || job.ranks.remove(instance) == null) {
            return;
        }
        job.pending.remove(instance);
        job.applied.remove(instance);
        job.leftAt = now;
        changed = true;
    }

    /**
     * A rank ran out of memory.
     *
     * @return the directive it is to be told again, when it is older news than that
     */
    public Optional<JobDirective> ranOut(OomReport report, Instant now) {
        Job job = job(report.instance(), now);
        if (report.sequence() < job.sequence()) {
            return Optional.ofNullable(job.newest);
        }
        changed |= !report.equals(job.pending.put(report.instance(), report));
        return Optional.empty();
    }

    /**
     * A rank has done a directive. One that is not known here (this worker was started since) is known from now on.
     *
     * @return a directive that is newer than what the other ranks were told
     */
    public Optional<JobDirective> applied(Applied applied, JobDirective directive, Instant now) {
        Job job = job(applied.instance(), now);
        boolean isNews = job.take(directive);
        if (applied.sequence() == job.sequence()) {
            changed |= !applied.equals(job.applied.put(applied.instance(), applied));
        }
        changed |= isNews;
        return isNews ? Optional.of(directive) : Optional.empty();
    }

    /** A coordinator was heard of; an older one is not listened to from now on. */
    public void learn(CoordinatorToken seen) {
        if (token.isEmpty() || token.get().isOlderThan(seen)) {
            token = Optional.of(seen);
            changed = true;
        }
    }

    /** Whether this is the coordinator that is listened to. */
    boolean obeys(CoordinatorToken from) {
        return token.equals(Optional.of(from));
    }

    /**
     * A coordinator's directive.
     *
     * @return what the ranks of the job here are to be told; empty when the coordinator or the directive is an older
     *     one
     */
    public Optional<JobDirective> direct(CoordinatorToken from, JobDirective directive, Instant now) {
        learn(from);
        if (!obeys(from)) {
            return Optional.empty();
        }
        boolean isNews =
                jobs.computeIfAbsent(directive.job(), id -> new Job(now)).take(directive);
        changed |= isNews;
        return isNews ? Optional.of(directive) : Optional.empty();
    }

    /** The newest directive of a job. */
    public Optional<JobDirective> newest(JobId job) {
        return Optional.ofNullable(jobs.get(job)).flatMap(known -> Optional.ofNullable(known.newest));
    }

    /** Drops jobs without a rank that nobody came back for. */
    public void forget(Instant now) {
        List<Map.Entry<JobId, Job>> idle = new ArrayList<>();
        for (Map.Entry<JobId, Job> entry : jobs.entrySet()) {
            if (entry.getValue().ranks.isEmpty()) {
                idle.add(entry);
            }
        }
        idle.sort(Map.Entry.comparingByValue((first, second) -> second.leftAt.compareTo(first.leftAt)));
        for (int i = 0; i < idle.size(); i++) {
            boolean isOld = idle.get(i).getValue().leftAt.plus(KEPT_FOR).isBefore(now);
            if (isOld || i >= MAX_IDLE_JOBS || idle.get(i).getValue().newest == null) {
                jobs.remove(idle.get(i).getKey());
                changed = true;
            }
        }
    }

    /** Whether {@link #report} differs from the one before; asked once after each change. */
    public boolean takeChanged() {
        boolean was = changed;
        changed = false;
        return was;
    }

    /** Everything known here. */
    public JobsReported report(NodeId node) {
        List<JobReport> reports = new ArrayList<>();
        jobs.forEach((id, job) -> reports.add(job.report(id)));
        return new JobsReported(node, token, reports);
    }

    private Job job(RankInstance instance, Instant now) {
        return jobs.computeIfAbsent(instance.rank().job(), id -> new Job(now));
    }
}
