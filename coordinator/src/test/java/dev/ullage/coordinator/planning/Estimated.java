package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.gib;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.PlannedNeeds.Need;
import dev.ullage.common.model.PlannedNeeds.Phases;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.MicroBatches;
import dev.ullage.common.model.RankWatch.PhasePeak;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A rank with an estimate, and what it measures. Weights 4 GiB, gradients 2, optimizer state 8; activations 10 in the
 * forward and 12 in the backward pass; each upper end is 2 GiB above its point.
 */
final class Estimated {
    static final PlannedNeeds PLANNED = planned(true, 10);

    private Estimated() {}

    private static Need need(long state, long more) {
        return new Need(gib(state), gib(state + more), gib(state + more + 2), gib(state));
    }

    static PlannedNeeds planned(boolean wholeProcess, long activations) {
        return new PlannedNeeds(
                0,
                2,
                wholeProcess,
                OptionalInt.of(4),
                new Phases(
                        need(4, 0),
                        need(6, activations),
                        need(6, activations + 2),
                        need(14, 1),
                        need(14, activations + 2)),
                new Need(gib(8), gib(8), gib(9), gib(8)));
    }

    static Map<Phase, MemoryBytes> peaks(long init, long forward, long backward, long optimizer) {
        Map<Phase, MemoryBytes> peaks = new EnumMap<>(Phase.class);
        peaks.put(Phase.INIT, gib(init));
        peaks.put(Phase.FORWARD, gib(forward));
        peaks.put(Phase.BACKWARD, gib(backward));
        peaks.put(Phase.OPTIMIZER, gib(optimizer));
        return peaks;
    }

    static RankObserved watched(long step, long refusals, Map<Phase, MemoryBytes> peaks) {
        return watched(step, refusals, peaks, Optional.empty(), Optional.empty());
    }

    /** Of a rank that was watched from its first step on. */
    static RankObserved watched(
            long step,
            long refusals,
            Map<Phase, MemoryBytes> peaks,
            Optional<MicroBatches> microBatches,
            Optional<MemoryBytes> beside) {
        OptionalLong unknown = OptionalLong.empty();
        List<PhasePeak> phases = peaks.entrySet().stream()
                .map(peak -> new PhasePeak(peak.getKey(), Optional.of(peak.getValue()), Optional.empty()))
                .toList();
        RankWatch watch = new RankWatch(
                new RankWatch.Progress(OptionalLong.of(step), unknown, Math.min(step, 100)),
                phases,
                new RankWatch.Allocator(
                        unknown, unknown, Optional.empty(), Optional.empty(), unknown, OptionalLong.of(refusals)),
                RankWatch.Leak.UNKNOWN,
                List.of(),
                Optional.empty(),
                RankWatch.Work.of(RankWatch.Batches.of(Optional.empty(), microBatches), Optional.empty()));
        return new RankObserved(
                OptionalInt.of(2),
                OptionalLong.of(step),
                Optional.empty(),
                Optional.empty(),
                refusals,
                Optional.of(watch),
                Optional.empty(),
                beside);
    }
}
