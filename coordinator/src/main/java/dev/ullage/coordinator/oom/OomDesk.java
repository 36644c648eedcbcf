package dev.ullage.coordinator.oom;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.BatchShares;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobReport;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToOperator.OomMove;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The moves of all jobs after out-of-memory errors. Immutable; what it knows the workers say again. A job that no
 * worker speaks of any more is kept for {@link #KEPT_FOR}, {@value #MAX_IDLE_JOBS} of them at most: its workers and its
 * ranks may be about to be started again, and this may be the last one who knows.
 */
public final class OomDesk {
    static final Duration KEPT_FOR = Duration.ofMinutes(10);
    static final int MAX_IDLE_JOBS = 256;
    public static final OomDesk EMPTY = new OomDesk(new TreeMap<>());

    private final NavigableMap<JobId, JobMoves> jobs;

    private OomDesk(NavigableMap<JobId, JobMoves> jobs) {
        this.jobs = jobs;
    }

    /** A directive on its way to one worker. */
    public record Send(NodeId worker, JobDirective directive) {}

    /** What is to be sent, what was newly decided, and the desk after that. */
    public record Turn(OomDesk desk, List<JobDirective> decided, List<Send> sends) {
        public Turn {
            decided = List.copyOf(decided);
            sends = List.copyOf(sends);
        }
    }

    /**
     * Where the directives of a job stand.
     *
     * @param isQuiet whether all its ranks are known here, have done the newest, and none has run out of memory since
     */
    public record Standing(boolean isQuiet, Optional<JobDirective> newest) {
        public long sequence() {
            return newest.map(JobDirective::sequence).orElse(0L);
        }

        /** How often its batch was shared out. */
        public int orders() {
            return newest.flatMap(JobDirective::shares).map(BatchShares::orders).orElse(0);
        }
    }

    /** Where a job stands; one that no worker speaks of is not quiet. */
    public Standing standing(JobId job, CoordinatorToken token) {
        return Optional.ofNullable(jobs.get(job))
                .map(moves -> new Standing(moves.isQuiet(token), moves.newest()))
                .orElse(new Standing(false, Optional.empty()));
    }

    /** With an order of batch shares as the job's newest directive; it is sent with the next {@link #turn}. */
    public OomDesk ordered(JobDirective order, Instant now) {
        NavigableMap<JobId, JobMoves> changed = new TreeMap<>(jobs);
        changed.computeIfPresent(order.job(), (job, moves) -> moves.ordered(order, now));
        return new OomDesk(changed);
    }

    /** The worker says this of all its jobs now: one that it leaves out, it has no part in any more. */
    public OomDesk with(JobsReported reported, Instant now) {
        NavigableMap<JobId, JobMoves> changed = new TreeMap<>(jobs);
        NavigableSet<JobId> said = new TreeSet<>();
        for (JobReport report : reported.jobs()) {
            said.add(report.job());
            JobMoves known = changed.getOrDefault(report.job(), JobMoves.of(report.job(), now));
            changed.put(report.job(), known.with(reported, report, now));
        }
        changed.replaceAll((job, moves) -> said.contains(job) ? moves : moves.without(reported.node()));
        return new OomDesk(withoutForgotten(changed, now));
    }

    /** A worker that was silent for too long has no say. */
    public OomDesk forgetting(NodeId worker, Instant now) {
        NavigableMap<JobId, JobMoves> changed = new TreeMap<>(jobs);
        changed.replaceAll((job, moves) -> moves.without(worker));
        return new OomDesk(withoutForgotten(changed, now));
    }

    private static NavigableMap<JobId, JobMoves> withoutForgotten(NavigableMap<JobId, JobMoves> jobs, Instant now) {
        jobs.values()
                .removeIf(moves -> moves.isIdle()
                        && (moves.newest().isEmpty()
                                || moves.heardAt().plus(KEPT_FOR).isBefore(now)));
        List<JobId> idle = jobs.entrySet().stream()
                .filter(entry -> entry.getValue().isIdle())
                .sorted(Map.Entry.comparingByValue(
                        Comparator.comparing(JobMoves::heardAt).reversed()))
                .map(Map.Entry::getKey)
                .toList();
        idle.stream().skip(MAX_IDLE_JOBS).forEach(jobs::remove);
        return jobs;
    }

    /** Decides what can be decided, and sends what is due. */
    public Turn turn(CoordinatorToken token, Duration resendAfter, Instant now) {
        NavigableMap<JobId, JobMoves> changed = new TreeMap<>();
        List<JobDirective> decided = new ArrayList<>();
        List<Send> sends = new ArrayList<>();
        jobs.forEach((job, moves) -> {
            JobMoves after = moves.decide(token, now);
            after.newest()
                    .filter(directive -> !moves.newest().equals(after.newest()))
                    .ifPresent(decided::add);
            List<NodeId> due = after.due(now, resendAfter);
            after.newest().ifPresent(directive -> due.forEach(node -> sends.add(new Send(node, directive))));
            changed.put(job, after.sent(due, now));
        });
        return new Turn(new OomDesk(changed), decided, sends);
    }

    public List<OomMove> status(Instant now) {
        return jobs.values().stream()
                .flatMap(moves -> moves.status(now).stream())
                .toList();
    }
}
