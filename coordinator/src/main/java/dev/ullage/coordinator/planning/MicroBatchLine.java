package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.PlannedNeeds.Need;
import dev.ullage.common.model.RankWatch.MicroBatchPeaks;
import dev.ullage.common.model.RankWatch.MicroBatches;
import dev.ullage.common.model.RankWatch.PhasePeak;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a rank holds in each phase as a line in the samples of its micro-batch: through the largest and the smallest
 * size that were measured. State does not depend on the size, activations are proportional to it.
 *
 * <p>With one size, and where two say nothing (a cache that stayed from the larger one), what exceeds the planned state
 * is taken as proportional, which is never less than the truth as long as that state is right.
 *
 * @param sizes how many were measured, 1 or more
 * @param phases those that were measured; never empty
 */
record MicroBatchLine(int sizes, Map<Phase, Line> phases) {
    MicroBatchLine {
        phases = Collections.unmodifiableMap(new EnumMap<>(phases));
    }

    /**
     * One phase.
     *
     * @param samples the largest size that was measured, 1 or more
     * @param level what the allocator held with that
     * @param perSample what one sample more adds
     */
    record Line(int samples, MemoryBytes level, MemoryBytes perSample) {
        /** What {@code size} samples add to the level, at most {@code Long.MAX_VALUE}; nothing for fewer. */
        private MemoryBytes beyond(int size) {
            long more = Math.max(0, (long) size - samples);
            long most = perSample.isZero() ? Long.MAX_VALUE : Long.MAX_VALUE / perSample.value();
            return MemoryBytes.of(more > most ? Long.MAX_VALUE : perSample.value() * more);
        }

        /** The most samples that stay within {@code room}, below 1 where not even one does. */
        private long largestWithin(MemoryBytes room) {
            if (perSample.isZero()) {
                return level.isMoreThan(room) ? 0 : Integer.MAX_VALUE;
            }
            long more = Math.floorDiv(room.value() - level.value(), perSample.value());
            return Math.min(Integer.MAX_VALUE, samples + more);
        }
    }

    /** @return empty when no size was measured */
    static Optional<MicroBatchLine> of(PlannedNeeds planned, MicroBatches measured) {
        List<MicroBatchPeaks> sizes = measured.sizes().stream()
                .filter(size ->
                        size.phases().stream().anyMatch(peak -> peak.held().isPresent()))
                .toList();
        Map<Phase, Line> lines = new EnumMap<>(Phase.class);
        for (MicroBatchPeaks size : sizes) {
            for (PhasePeak peak : size.phases()) {
                peak.held()
                        .map(level -> new Line(
                                size.samples(),
                                level,
                                slope(peak, size.samples(), sizes)
                                        .orElseGet(() -> proportional(planned, peak.phase(), level, size.samples()))))
                        .ifPresent(line -> lines.put(peak.phase(), line));
            }
        }
        return lines.isEmpty() ? Optional.empty() : Optional.of(new MicroBatchLine(sizes.size(), lines));
    }

    /** By the smallest size of which the same is known; empty when there is none. */
    private static Optional<MemoryBytes> slope(PhasePeak large, int samples, List<MicroBatchPeaks> sizes) {
        return sizes.stream()
                .filter(size -> size.samples() < samples)
                .flatMap(size -> size.phases().stream()
                        .filter(small -> small.phase() == large.phase())
                        .flatMap(small -> slope(small, large, samples - size.samples()).stream()))
                .findFirst();
    }

    /** What is reserved does not fall with the size, so only a rise of it says something. */
    private static Optional<MemoryBytes> slope(PhasePeak small, PhasePeak large, int samples) {
        if (small.allocated().isPresent() && large.allocated().isPresent()) {
            return Optional.of(perSample(
                    large.allocated().get().minusOrZero(small.allocated().get()), samples));
        }
        return small.reserved()
                .flatMap(from -> large.reserved().map(to -> to.minusOrZero(from)))
                .filter(rise -> !rise.isZero())
                .map(rise -> perSample(rise, samples));
    }

    private static MemoryBytes proportional(PlannedNeeds planned, Phase phase, MemoryBytes level, int samples) {
        MemoryBytes state = planned.later(phase).map(Need::state).orElse(MemoryBytes.ZERO);
        return perSample(level.minusOrZero(state), samples);
    }

    /** Rounded up: it is what a sample may need, and no limit by itself. */
    private static MemoryBytes perSample(MemoryBytes amount, int samples) {
        long whole = amount.value() / samples;
        return MemoryBytes.of(amount.value() % samples == 0 ? whole : whole + 1);
    }

    /** What {@code size} samples add to the peak of a phase with the largest size measured; nothing for fewer. */
    MemoryBytes beyond(Phase phase, int size) {
        Line line = phases.get(phase);
        return line == null ? MemoryBytes.ZERO : line.beyond(size);
    }

    /** Of the phase that holds most. */
    Line highest() {
        return phases.values().stream()
                .reduce((one, other) -> other.level().isMoreThan(one.level()) ? other : one)
                .orElseThrow();
    }

    /** The most samples with which every phase stays within what the allocator may take; empty when none does. */
    OptionalInt largestWithin(MemoryBytes room) {
        long most = phases.values().stream()
                .mapToLong(line -> line.largestWithin(room))
                .min()
                .orElse(0);
        return most < 1 ? OptionalInt.empty() : OptionalInt.of((int) most);
    }
}
