package dev.ullage.coordinator.oom;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobReport;
import dev.ullage.common.protocol.JobReport.Applied;
import dev.ullage.common.protocol.OomReport;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToOperator.OomMove;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The moves of one job: the newest directive, and what the workers say of it. Immutable; soft, because the workers hold
 * the directive.
 *
 * <pre>
 *              oom under the newest directive (or without any): the next directive, see OomLadder
 *            +--------------------------------------------------------------+
 *            v                                                              |
 *   (none) ORDERED --its rank applied it--+--use not known--> APPLIED ------+
 *                                         +--holds less-----> DONE ---------+
 *                                         +--holds as much--> NO_EFFECT ----+
 *
 *   oom under an older directive (a second one, a late one, a repeated one): no move; its worker is sent the newest
 * </pre>
 *
 * <p>A coordinator decides only when every rank of the job was reported by a worker that takes directives from this
 * coordinator alone: then no other directive of this job can come up any more, and the newest of all is known.
 */
final class JobMoves {
    private static final int MAX_KEPT = 8;

    /** A worker's part of the job. */
    private record Part(Optional<CoordinatorToken> token, JobReport report, Optional<Instant> sentAt) {}

    /**
     * A directive.
     *
     * @param at when this coordinator first knew it
     * @param reportedAt when it heard what the directive answers; empty: another coordinator decided it
     * @param appliedAt when it heard that all ranks had done it
     */
    private record Move(JobDirective directive, Instant at, Optional<Instant> reportedAt, Optional<Instant> appliedAt) {
        Move applied(Instant now) {
            return appliedAt.isPresent() ? this : new Move(directive, at, reportedAt, Optional.of(now));
        }

        OptionalLong appliedMillis() {
            return reportedAt.isPresent() && appliedAt.isPresent()
                    ? OptionalLong.of(Math.max(
                            0,
                            Duration.between(reportedAt.get(), appliedAt.get()).toMillis()))
                    : OptionalLong.empty();
        }
    }

    private final JobId job;
    private final NavigableMap<NodeId, Part> parts;
    private final List<Move> moves;
    private final Instant heardAt;
    /** When the oldest report that the newest directive does not answer came. */
    private final Optional<Instant> reportedAt;

    private JobMoves(
            JobId job,
            NavigableMap<NodeId, Part> parts,
            List<Move> moves,
            Instant heardAt,
            Optional<Instant> reportedAt) {
        this.job = job;
        this.parts = parts;
        this.moves = moves;
        this.heardAt = heardAt;
        this.reportedAt = reportedAt;
    }

    static JobMoves of(JobId job, Instant now) {
        return new JobMoves(job, new TreeMap<>(), List.of(), now, Optional.empty());
    }

    Optional<JobDirective> newest() {
        return moves.isEmpty()
                ? Optional.empty()
                : Optional.of(moves.get(moves.size() - 1).directive());
    }

    /** The worker says this of the job now; a directive that is newer than all known is the newest. */
    JobMoves with(JobsReported from, JobReport report, Instant now) {
        NavigableMap<NodeId, Part> changed = new TreeMap<>(parts);
        Optional<Instant> sentAt = Optional.ofNullable(parts.get(from.node())).flatMap(Part::sentAt);
        changed.put(from.node(), new Part(from.token(), report, sentAt));
        boolean isNews = report.pending().stream().anyMatch(pending -> pending.sequence() == sequence());
        Optional<Instant> reported = reportedAt.or(() -> isNews ? Optional.of(now) : Optional.empty());
        JobMoves heard = new JobMoves(job, changed, moves, now, reported);
        return report.newest()
                .filter(directive -> directive.sequence() > sequence())
                .map(directive -> heard.moved(directive, now, Optional.empty()))
                .orElse(heard)
                .noting(now);
    }

    /** Notes when all ranks have done the newest directive. */
    private JobMoves noting(Instant now) {
        if (moves.isEmpty() || !isAppliedByAll()) {
            return this;
        }
        List<Move> noted = new ArrayList<>(moves);
        noted.set(noted.size() - 1, noted.get(noted.size() - 1).applied(now));
        return new JobMoves(job, parts, noted, heardAt, reportedAt);
    }

    private boolean isAppliedByAll() {
        NavigableSet<Integer> done = new TreeSet<>();
        parts.values().forEach(part -> part.report().applied().stream()
                .filter(applied -> applied.sequence() >= sequence())
                .forEach(applied -> done.add(applied.instance().rank().rank())));
        OptionalInt worldSize = worldSize();
        return worldSize.isPresent() && done.size() >= worldSize.getAsInt();
    }

    private OptionalInt worldSize() {
        return parts.values().stream()
                .flatMapToInt(part -> part.report().worldSize().stream())
                .max();
    }

    JobMoves without(NodeId node) {
        NavigableMap<NodeId, Part> changed = new TreeMap<>(parts);
        changed.remove(node);
        return new JobMoves(job, changed, moves, heardAt, reportedAt);
    }

    /** Whether no worker has a part in it now: its ranks may be about to be started again. */
    boolean isIdle() {
        return parts.isEmpty();
    }

    /** When a worker last spoke of it. */
    Instant heardAt() {
        return heardAt;
    }

    /** The next move, when a rank ran out under the newest directive and nothing stands against deciding. */
    JobMoves decide(CoordinatorToken token, Instant now) {
        if (!isWhole(token)) {
            return this;
        }
        return pending()
                .filter(report -> report.sequence() == sequence())
                .min(Comparator.comparing(OomReport::instance))
                .map(report -> moved(OomLadder.next(job, newest(), state(), report), now, reportedAt))
                .orElse(this);
    }

    /** Whether all ranks are with workers that obey this coordinator; what the world's size is, some rank must say. */
    private boolean isWhole(CoordinatorToken token) {
        if (!parts.values().stream().allMatch(part -> part.token().equals(Optional.of(token)))) {
            return false;
        }
        OptionalInt worldSize = worldSize();
        NavigableSet<Integer> ranks = new TreeSet<>();
        parts.values().forEach(part -> part.report()
                .ranks()
                .forEach(instance -> ranks.add(instance.rank().rank())));
        return worldSize.isPresent() && ranks.size() >= worldSize.getAsInt();
    }

    private Stream<OomReport> pending() {
        return parts.values().stream().flatMap(part -> part.report().pending().stream());
    }

    private long sequence() {
        return newest().map(JobDirective::sequence).orElse(0L);
    }

    private JobMoves moved(JobDirective directive, Instant now, Optional<Instant> reported) {
        List<Move> more = new ArrayList<>(moves);
        more.add(new Move(directive, now, reported, Optional.empty()));
        NavigableMap<NodeId, Part> unsent = new TreeMap<>();
        parts.forEach((node, part) -> unsent.put(node, new Part(part.token(), part.report(), Optional.empty())));
        List<Move> kept = more.subList(Math.max(0, more.size() - MAX_KEPT), more.size());
        return new JobMoves(job, unsent, kept, heardAt, Optional.empty());
    }

    /** How far the newest directive has come; empty without one. */
    Optional<MoveState> state() {
        return newest().map(directive -> {
            Optional<Applied> applied = parts.values().stream()
                    .flatMap(part -> part.report().applied().stream())
                    .filter(one -> one.sequence() == directive.sequence()
                            && one.instance().rank().rank() == directive.cause().rank())
                    .findFirst();
            return applied.map(one -> effect(directive.cause().used(), one.used()))
                    .orElse(MoveState.ORDERED);
        });
    }

    private static MoveState effect(Optional<MemoryBytes> before, Optional<MemoryBytes> after) {
        if (before.isEmpty() || after.isEmpty()) {
            return MoveState.APPLIED;
        }
        return before.get().isMoreThan(after.get()) ? MoveState.DONE : MoveState.NO_EFFECT;
    }

    /** The workers that are to be sent the newest directive now. */
    List<NodeId> due(Instant now, Duration resendAfter) {
        return parts.entrySet().stream()
                .filter(entry -> entry.getValue()
                                .report()
                                .newest()
                                .map(JobDirective::sequence)
                                .orElse(0L)
                        < sequence())
                .filter(entry -> entry.getValue()
                        .sentAt()
                        .map(sent -> !sent.plus(resendAfter).isAfter(now))
                        .orElse(true))
                .map(Map.Entry::getKey)
                .toList();
    }

    JobMoves sent(List<NodeId> nodes, Instant now) {
        NavigableMap<NodeId, Part> changed = new TreeMap<>(parts);
        nodes.forEach(node ->
                changed.computeIfPresent(node, (key, part) -> new Part(part.token(), part.report(), Optional.of(now))));
        return new JobMoves(job, changed, moves, heardAt, reportedAt);
    }

    List<OomMove> status(Instant now) {
        List<OomMove> list = new ArrayList<>();
        for (Move move : moves) {
            boolean isNewest = move.directive().sequence() == sequence();
            String state = isNewest ? state().map(Enum::name).orElse("ORDERED") : "REPLACED";
            list.add(new OomMove(
                    move.directive(),
                    state,
                    Math.max(0, Duration.between(move.at(), now).toMillis()),
                    move.appliedMillis()));
        }
        return Collections.unmodifiableList(list);
    }
}
