package dev.ullage.coordinator.planning;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.PlannedNeeds.Need;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.MicroBatches;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.RankWatch.Progress;
import dev.ullage.common.model.Share;
import dev.ullage.config.PolicySettings.Planned;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a rank needs in each phase: by its estimate, and once it has done some steps by what was measured.
 *
 * <pre>
 *   corrected = S + A + slack x A + slack / 5 x S
 *   S: the state that the estimate knows exactly (weights, gradients, master weights, optimizer state)
 *   A: what was measured beside it, max(0, peak - S): activations and all else that an estimate must assume
 * </pre>
 *
 * So it is never below what was measured. After the first step alone, whose peaks are without the optimizer's state, A
 * is what was measured beside the state of that step, and S has the optimizer's. The need of a larger micro-batch that
 * the training has announced is added by the line through those that were measured.
 *
 * @param beside what the process uses beside its allocator: part of each amount
 * @param measured the highest of each phase
 * @param corrected likewise; of the same phases
 * @param trust what the measured amounts may do
 * @param basis what the corrected amounts rest on, for people
 * @param line by the size of the micro-batch
 */
record CorrectedNeeds(
        PlannedNeeds planned,
        MemoryBytes beside,
        Map<Phase, MemoryBytes> measured,
        Map<Phase, MemoryBytes> corrected,
        Trust trust,
        String basis,
        Optional<MicroBatchLine> line) {

    /** More steps than this are not waited for: no worker keeps fewer. */
    private static final long ENOUGH_STEPS = 10;

    private static final int STATE_PART_OF_SLACK = 5;

    /** What measured amounts may do to the limits. */
    enum Trust {
        /** Too few steps were done: they may raise a limit and lower none. */
        RAISE,
        /** They take the place of the estimate. */
        REPLACE,
        /** They were cut short by the limit. */
        CUT_SHORT
    }

    /** The peaks of the allocator, and whether they are of the first step alone. */
    private record Peaks(Map<Phase, MemoryBytes> held, boolean isFirstStep, String of) {}

    static CorrectedNeeds of(PlannedNeeds planned, RankObserved observed, Planned settings) {
        MemoryBytes beside = observed.beside().orElse(MemoryBytes.ZERO);
        Peaks peaks = peaks(observed);
        Optional<MicroBatches> microBatches = observed.watch().flatMap(RankWatch::microBatches);
        Optional<MicroBatchLine> line = microBatches.flatMap(sizes -> MicroBatchLine.of(planned, sizes));
        int size = microBatches.map(MicroBatches::now).orElse(0);
        Map<Phase, MemoryBytes> measured = new EnumMap<>(Phase.class);
        Map<Phase, MemoryBytes> corrected = new EnumMap<>(Phase.class);
        peaks.held().forEach((phase, peak) -> {
            measured.put(phase, peak.plus(beside));
            MemoryBytes more = line.map(known -> known.beyond(phase, size)).orElse(MemoryBytes.ZERO);
            corrected.put(
                    phase, sum(correct(planned, phase, peak, more, peaks.isFirstStep(), settings.slack()), beside));
        });
        Trust trust = trust(observed, settings);
        return new CorrectedNeeds(
                planned, beside, measured, corrected, trust, basis(trust, peaks, observed, settings), line);
    }

    private static MemoryBytes correct(
            PlannedNeeds planned, Phase phase, MemoryBytes peak, MemoryBytes more, boolean isFirstStep, Share slack) {
        MemoryBytes later = planned.later(phase)
                .map(Need::state)
                .orElseGet(() -> planned.phases().steady().state().min(peak));
        MemoryBytes then = isFirstStep ? planned.first(phase).map(Need::state).orElse(later) : later;
        MemoryBytes working = sum(peak.minusOrZero(then), more);
        MemoryBytes room = sum(working.times(slack), later.times(slack).dividedBy(STATE_PART_OF_SLACK));
        return sum(sum(later, working), room);
    }

    /**
     * Of the phases that were seen; of a rank that is not watched one peak, that of its whole life, for those of a
     * step.
     */
    private static Peaks peaks(RankObserved observed) {
        Map<Phase, MemoryBytes> held = new EnumMap<>(Phase.class);
        for (PhasePeak peak : observed.watch().map(RankWatch::phases).orElse(List.of())) {
            peak.held().filter(amount -> !amount.isZero()).ifPresent(amount -> held.put(peak.phase(), amount));
        }
        if (!held.isEmpty()) {
            Progress progress = observed.watch().orElseThrow().progress();
            boolean isFirst = progress.steps() <= 1 && progress.step().equals(OptionalLong.of(1));
            String of = isFirst ? "its first step" : "its last " + Counts.of(progress.steps(), "step");
            return new Peaks(held, isFirst, of);
        }
        observed.peakReserved().filter(peak -> !peak.isZero()).ifPresent(peak -> {
            for (Phase phase : List.of(Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER)) {
                held.put(phase, peak);
            }
        });
        return new Peaks(held, false, "its whole life");
    }

    private static Trust trust(RankObserved observed, Planned settings) {
        OptionalLong lately =
                observed.watch().map(watch -> watch.allocator().refusals()).orElse(OptionalLong.empty());
        if (lately.orElse(observed.refusals()) > 0) {
            return Trust.CUT_SHORT;
        }
        boolean isLate = observed.step().orElse(0) >= settings.afterStep();
        boolean isSeen = observed.watch()
                .map(watch -> watch.progress().steps() >= Math.min(settings.afterStep(), ENOUGH_STEPS))
                .orElse(true);
        return isLate && isSeen ? Trust.REPLACE : Trust.RAISE;
    }

    private static String basis(Trust trust, Peaks peaks, RankObserved observed, Planned settings) {
        if (peaks.held().isEmpty()) {
            return "nothing was measured yet";
        }
        return switch (trust) {
            case RAISE ->
                "measured over %s, which may only raise it until step %d (now %s)"
                        .formatted(
                                peaks.of(),
                                settings.afterStep(),
                                observed.step().isPresent()
                                        ? Long.toString(observed.step().getAsLong())
                                        : "not known");
            case REPLACE ->
                "measured over %s beside the planned state, + slack %s".formatted(peaks.of(), settings.slack());
            case CUT_SHORT ->
                "measured over %s, which is its limit's and not its need's: its allocator was refused memory"
                        .formatted(peaks.of());
        };
    }

    /** What the estimate says for every iteration after the first; empty for a phase that it does not tell apart. */
    Optional<Need> plannedIn(Phase phase) {
        return planned.later(phase).map(this::whole);
    }

    /** With what the process uses beside its allocator, where the estimate has not counted it. */
    private Need whole(Need need) {
        return planned.wholeProcess()
                ? need
                : new Need(
                        sum(need.lower(), beside), sum(need.point(), beside), sum(need.upper(), beside), need.state());
    }

    /** What the process uses when its allocator holds {@code allocator}. */
    MemoryBytes whole(MemoryBytes allocator) {
        return sum(allocator, beside);
    }

    /** The highest of all phases and iterations by the estimate. */
    Need plannedHighest() {
        return whole(planned.highest());
    }

    /**
     * What the limit of a phase is to be; empty for a phase that an estimate does not tell apart: it is to have the
     * highest of all, for its peak may be from before the optimizer's state was there.
     */
    Optional<MemoryBytes> wanted(Phase phase) {
        Optional<MemoryBytes> byEstimate = plannedIn(phase).map(Need::upper);
        Optional<MemoryBytes> byMeasure = byEstimate.flatMap(estimate -> Optional.ofNullable(corrected.get(phase)));
        return trust == Trust.REPLACE
                ? byMeasure.or(() -> byEstimate)
                : byEstimate.map(estimate -> byMeasure.map(estimate::max).orElse(estimate));
    }

    /** The highest that any phase is to have. */
    MemoryBytes highestWanted() {
        MemoryBytes most = isReplaced() ? MemoryBytes.ZERO : plannedHighest().upper();
        for (Phase phase : Phase.values()) {
            most = most.max(wanted(phase).orElse(MemoryBytes.ZERO))
                    .max(corrected.getOrDefault(phase, MemoryBytes.ZERO));
        }
        return most;
    }

    /** Whether what was measured has taken the place of the estimate. */
    boolean isReplaced() {
        return trust == Trust.REPLACE && !corrected.isEmpty();
    }

    private static MemoryBytes sum(MemoryBytes one, MemoryBytes other) {
        return one.plus(other.min(MemoryBytes.of(Long.MAX_VALUE - one.value())));
    }
}
