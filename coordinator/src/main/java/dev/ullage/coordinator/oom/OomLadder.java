package dev.ullage.coordinator.oom;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.OomKind;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobDirective.Cause;
import dev.ullage.common.protocol.JobDirective.Sizes;
import dev.ullage.common.protocol.OomReport;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Which level follows. The gentlest that can help, and none twice that did not:
 *
 * <pre>
 *   own limit       LIMIT once          the step again: the limit may have been raised
 *   fragmentation   ALLOCATOR once      where the rank says it can and has not
 *   no effect       RESTART             what was not given back goes with the process; not twice in a row
 *   else            MICRO_BATCH         while a sample is left to take away
 *                   SIMPLIFY, CPU       each once, where registered
 *                   STOP                the last word; also after {@value #MAX_MOVES} moves
 * </pre>
 */
final class OomLadder {
    /** Halving from 2^20 samples to one takes 20; with all else once this is far beyond what a good ladder needs. */
    static final int MAX_MOVES = 32;

    private static final List<OomLevel> ONCE = List.of(OomLevel.SIMPLIFY, OomLevel.CPU);

    private OomLadder() {}

    /**
     * The directive that follows.
     *
     * @param current the job's newest directive; the report was made under it
     * @param state how far that has come
     */
    static JobDirective next(JobId job, Optional<JobDirective> current, Optional<MoveState> state, OomReport report) {
        Set<OomLevel> done = EnumSet.noneOf(OomLevel.class);
        current.ifPresent(directive -> done.addAll(directive.cause().done()));
        long sequence = current.map(JobDirective::sequence).orElse(0L) + 1;
        OomLevel level = level(current, state, report, done);
        boolean restart = level == OomLevel.RESTART || (!report.means().retry() && level != OomLevel.STOP);
        Sizes sizes = level == OomLevel.MICRO_BATCH ? smaller(report) : kept(current, report);
        if (level == OomLevel.MICRO_BATCH) {
            // With other sizes the allocator's layout and the limit are to be judged anew; a restart too.
            done.remove(OomLevel.RESTART);
        } else {
            done.add(level);
        }
        Cause cause = new Cause(
                report.instance().rank().rank(),
                report.figures().allocated(),
                List.copyOf(done),
                reason(report, level, sizes, restart, state));
        // Shares of the batch stay what they are: whatever is cut into smaller parts is a rank's own share.
        return new JobDirective(
                job, sequence, report.step(), level, sizes, restart, cause, current.flatMap(JobDirective::shares));
    }

    private static OomLevel level(
            Optional<JobDirective> current, Optional<MoveState> state, OomReport report, Set<OomLevel> done) {
        if (current.map(JobDirective::moves).orElse(0L) >= MAX_MOVES
                || current.map(JobDirective::level).equals(Optional.of(OomLevel.STOP))) {
            return OomLevel.STOP;
        }
        if (report.kind() == OomKind.OWN_LIMIT && !done.contains(OomLevel.LIMIT)) {
            return OomLevel.LIMIT;
        }
        if (mayBeFragmented(report.kind())
                && report.means().levels().contains(OomLevel.ALLOCATOR)
                && !done.contains(OomLevel.ALLOCATOR)) {
            return OomLevel.ALLOCATOR;
        }
        if (state.equals(Optional.of(MoveState.NO_EFFECT)) && !done.contains(OomLevel.RESTART)) {
            return OomLevel.RESTART;
        }
        if (report.means().microBatch().orElse(1) > 1) {
            return OomLevel.MICRO_BATCH;
        }
        return ONCE.stream()
                .filter(level -> report.means().levels().contains(level) && !done.contains(level))
                .findFirst()
                .orElse(OomLevel.STOP);
    }

    private static boolean mayBeFragmented(OomKind kind) {
        return kind == OomKind.FRAGMENTATION || kind == OomKind.FRAGMENTATION_OR_FOREIGN;
    }

    /** Half, or less where what is known says that half will not do; at least one sample. */
    private static Sizes smaller(OomReport report) {
        int now = report.means().microBatch().orElse(1);
        int half = Math.max(1, now / 2);
        int next = estimate(report, now).map(fits -> Math.min(half, fits)).orElse(half);
        return sizes(OptionalInt.of(next), report.means().batch());
    }

    /**
     * The most samples that fit by what is known: what the step had added to its base when it failed, and the request
     * that failed, is the least that {@code now} samples need, so this is never too small, and may be too large.
     */
    private static Optional<Integer> estimate(OomReport report, int now) {
        OomReport.Figures figures = report.figures();
        if (figures.base().isEmpty()
                || figures.allocated().isEmpty()
                || figures.limit().isEmpty()) {
            return Optional.empty();
        }
        MemoryBytes base = figures.base().get();
        MemoryBytes need = figures.allocated()
                .get()
                .plus(figures.requested().orElse(MemoryBytes.ZERO))
                .minusOrZero(base);
        MemoryBytes room = figures.limit().get().minusOrZero(base);
        if (need.isZero() || room.isZero()) {
            return Optional.empty();
        }
        long perSample = Math.max(1, need.value() / now);
        return Optional.of((int) Math.max(1, Math.min(now, room.value() / perSample)));
    }

    private static Sizes kept(Optional<JobDirective> current, OomReport report) {
        return current.map(JobDirective::sizes)
                .filter(sizes -> sizes.microBatch().isPresent())
                .orElseGet(
                        () -> sizes(report.means().microBatch(), report.means().batch()));
    }

    private static Sizes sizes(OptionalInt microBatch, OptionalInt batch) {
        if (microBatch.isEmpty() || batch.isEmpty()) {
            return new Sizes(microBatch, OptionalInt.empty());
        }
        int micro = microBatch.getAsInt();
        return new Sizes(microBatch, OptionalInt.of((int) (((long) batch.getAsInt() + micro - 1) / micro)));
    }

    /** The last word, if it comes to that: rank, phase, bytes asked, fragmentation, and what was made of it. */
    private static String reason(
            OomReport report, OomLevel level, Sizes sizes, boolean restart, Optional<MoveState> state) {
        OomReport.Figures figures = report.figures();
        StringBuilder text = new StringBuilder("rank ")
                .append(report.instance().rank().rank())
                .append(" ran out of memory in ")
                .append(report.phase())
                .append(" of step ")
                .append(report.step());
        figures.requested().ifPresent(asked -> text.append(": asked for ").append(asked));
        figures.allocated().ifPresent(used -> text.append(", had ").append(used));
        figures.unused()
                .ifPresent(unused -> text.append(", reserved and unused ").append(unused));
        text.append(" (").append(words(report.kind().name())).append(')');
        state.filter(MoveState.NO_EFFECT::equals).ifPresent(same -> text.append("; the last move freed nothing"));
        text.append("; ").append(words(level.name()));
        if (level == OomLevel.MICRO_BATCH) {
            text.append(' ')
                    .append(report.means().microBatch().orElse(1))
                    .append(" -> ")
                    .append(sizes.microBatch().orElse(1));
        }
        if (restart && level != OomLevel.RESTART) {
            text.append(", after a restart: the step cannot be run again");
        }
        return text.toString();
    }

    private static String words(String name) {
        return name.toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
