package dev.ullage.worker.watch;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankWatch.Allocator;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.RankWatch.Progress;
import dev.ullage.common.model.Share;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * The last steps of one rank. A phase that occurs less often than that (an evaluation, a checkpoint) keeps its newest
 * peak, whatever its age. Not thread safe; holds at most one summary for each step of the window.
 *
 * <p>A step that is not above the newest one is the start of another training in the same process: everything begins
 * anew. Peaks of a batch of another size say nothing about this one: with the size, the window begins anew too.
 */
public final class PhaseWindow {
    private final int steps;
    private final Deque<StepSummary> summaries = new ArrayDeque<>();
    private final Map<Phase, PhasePeak> newestPeaks = new EnumMap<>(Phase.class);
    /** The last summary that left the window: what the counts in it are compared with. */
    private Optional<StepSummary> before = Optional.empty();

    /** @param steps how many steps count, 1 or more */
    public PhaseWindow(int steps) {
        if (steps < 1) {
            throw new IllegalArgumentException("a window has 1 step or more: " + steps);
        }
        this.steps = steps;
    }

    /** Takes the next summary; returns whether it continues the training seen so far. */
    public boolean add(StepSummary summary) {
        boolean continues = summaries.isEmpty() || summaries.getLast().step() < summary.step();
        if (!continues || !(summaries.isEmpty() || summaries.getLast().isCutAs(summary))) {
            summaries.clear();
            newestPeaks.clear();
            before = Optional.empty();
        }
        summaries.add(summary);
        summary.peaks().forEach(peak -> newestPeaks.put(peak.phase(), peak));
        while (summaries.getFirst().step() <= summary.step() - steps) {
            before = Optional.of(summaries.removeFirst());
        }
        return continues;
    }

    public Progress progress() {
        if (summaries.isEmpty()) {
            return new Progress(OptionalLong.empty(), OptionalLong.empty(), 0);
        }
        StepSummary newest = summaries.getLast();
        return new Progress(OptionalLong.of(newest.step()), newest.epoch(), newest.step() - firstStep());
    }

    /** The last step before those that count; a worker that came later than the rank has not seen all of them. */
    private long firstStep() {
        StepSummary first = summaries.getFirst();
        return before.map(StepSummary::step).orElse(Math.max(0, first.step() - first.steps()));
    }

    /** The most that each phase held in the window; in the order of the phases. */
    public List<PhasePeak> peaks() {
        Map<Phase, PhasePeak> most = new EnumMap<>(newestPeaks);
        for (StepSummary summary : summaries) {
            summary.peaks().forEach(peak -> most.merge(peak.phase(), peak, PhaseWindow::most));
        }
        return new ArrayList<>(most.values());
    }

    private static PhasePeak most(PhasePeak left, PhasePeak right) {
        return new PhasePeak(
                left.phase(), most(left.reserved(), right.reserved()), most(left.allocated(), right.allocated()));
    }

    private static Optional<MemoryBytes> most(Optional<MemoryBytes> left, Optional<MemoryBytes> right) {
        return left.isPresent() && right.isPresent() ? Optional.of(left.get().max(right.get())) : left.or(() -> right);
    }

    /** The most that was held in the window when a turn could not be ended for it; empty: that did not happen. */
    public Optional<MemoryBytes> lingering() {
        return summaries.stream()
                .flatMap(summary -> summary.amounts().lingering().stream())
                .reduce(MemoryBytes::max);
    }

    public Allocator allocator() {
        if (summaries.isEmpty()) {
            OptionalLong unknown = OptionalLong.empty();
            return new Allocator(unknown, unknown, Optional.empty(), Optional.empty(), unknown, unknown);
        }
        StepSummary newest = summaries.getLast();
        StepSummary.Amounts amounts = newest.amounts();
        return new Allocator(
                newest.counts().allocations(),
                allocationsPerStep(newest),
                ratio(amounts.inactiveSplit(), amounts.reserved()),
                ratio(amounts.requested(), amounts.allocated()).map(Share::complement),
                sinceWindowBegan(StepSummary.Counts::retries),
                sinceWindowBegan(StepSummary.Counts::refusals));
    }

    /** What came before the first summary is the start of the program, which is no step. */
    private OptionalLong allocationsPerStep(StepSummary newest) {
        StepSummary oldest = before.orElseGet(summaries::getFirst);
        OptionalLong from = oldest.counts().allocations();
        OptionalLong to = newest.counts().allocations();
        long passed = newest.step() - oldest.step();
        return passed > 0 && from.isPresent() && to.isPresent() && to.getAsLong() >= from.getAsLong()
                ? OptionalLong.of((to.getAsLong() - from.getAsLong()) / passed)
                : OptionalLong.empty();
    }

    private OptionalLong sinceWindowBegan(Function<StepSummary.Counts, OptionalLong> count) {
        OptionalLong now = count.apply(summaries.getLast().counts());
        StepSummary.Counts unseen = firstStep() == 0
                ? StepSummary.Counts.ZERO
                : summaries.getFirst().counts();
        OptionalLong then = count.apply(before.map(StepSummary::counts).orElse(unseen));
        return now.isPresent() && then.isPresent()
                ? OptionalLong.of(Math.max(0, now.getAsLong() - then.getAsLong()))
                : OptionalLong.empty();
    }

    /** A part of a whole, rounded down; unknown without either, and of nothing. */
    private static Optional<Share> ratio(Optional<MemoryBytes> part, Optional<MemoryBytes> whole) {
        if (part.isEmpty() || whole.isEmpty() || whole.get().isZero()) {
            return Optional.empty();
        }
        BigInteger basisPoints = BigInteger.valueOf(part.get().min(whole.get()).value())
                .multiply(BigInteger.valueOf(Share.ONE_IN_BASIS_POINTS))
                .divide(BigInteger.valueOf(whole.get().value()));
        return Optional.of(new Share(basisPoints.intValueExact()));
    }
}
