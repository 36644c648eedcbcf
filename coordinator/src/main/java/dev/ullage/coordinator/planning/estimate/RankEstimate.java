package dev.ullage.coordinator.planning.estimate;

import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What each rank of one pipeline stage needs.
 *
 * @param stage 0-based
 * @param ranks how many ranks are alike
 * @param phases what is there at the peak of each phase; only kinds that are
 * @param parts each kind of memory at its fullest
 * @param peak the most in any iteration
 * @param lower what it will hardly be less than
 * @param upper what it will hardly be more than
 * @param ranges of each phase, by the same rules as {@code lower} and {@code upper}
 * @param optimizerState of what the first optimizer step makes and keeps
 * @param host what the rank keeps in host memory
 */
public record RankEstimate(
        int stage,
        int ranks,
        Map<PhasePoint, Map<Part, MemoryBytes>> phases,
        Map<Part, MemoryBytes> parts,
        MemoryBytes peak,
        MemoryBytes lower,
        MemoryBytes upper,
        Map<PhasePoint, Range> ranges,
        Range optimizerState,
        MemoryBytes host,
        List<Integer> layers) {
    /** What an amount will hardly be less and hardly be more than. */
    public record Range(MemoryBytes lower, MemoryBytes upper) {}

    /** Moments whose peaks differ. */
    public enum PhasePoint {
        INIT,
        FORWARD,
        BACKWARD,
        /** The first optimizer step, which makes the optimizer's state. */
        OPTIMIZER,
        /** The highest of every later iteration. */
        STEADY
    }

    public MemoryBytes part(Part part) {
        return parts.getOrDefault(part, MemoryBytes.ZERO);
    }

    /** The peak of a phase: the sum of what is there. */
    public MemoryBytes at(PhasePoint point) {
        return phases.getOrDefault(point, Map.of()).values().stream().reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }

    /** Of the peak of a phase. */
    public Range rangeAt(PhasePoint point) {
        return Objects.requireNonNull(ranges.get(point));
    }

    /** What of the peak of a phase is state. */
    public MemoryBytes stateAt(PhasePoint point) {
        return phases.getOrDefault(point, Map.of()).entrySet().stream()
                .filter(part -> part.getKey().isState())
                .map(Map.Entry::getValue)
                .reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }

    /** The highest of the first iteration. */
    public MemoryBytes firstPeak() {
        return at(PhasePoint.FORWARD).max(at(PhasePoint.BACKWARD)).max(at(PhasePoint.OPTIMIZER));
    }
}
