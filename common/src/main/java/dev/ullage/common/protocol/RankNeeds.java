package dev.ullage.common.protocol;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a rank was planned to need beside what was measured. Amounts count the whole process.
 *
 * @param stage its pipeline stage by the estimate, 0-based, of so many
 * @param basis what its corrected amounts rest on, for people
 * @param phases in the order of {@link Phase}; those that an estimate tells apart, and others once they were measured
 * @param microBatch what another size of its micro-batch would need; empty where the training does not say the size
 */
public record RankNeeds(
        int stage, int stages, String basis, List<PhaseNeed> phases, Optional<MicroBatchNeed> microBatch) {
    public RankNeeds {
        phases = List.copyOf(phases);
    }

    /**
     * @param planned the estimate for every iteration after the first; empty for a phase that it does not tell apart
     * @param measured the highest of the last steps
     * @param corrected the planned state and what was measured on top of it, with slack; empty until measured
     */
    public record PhaseNeed(
            Phase phase,
            Optional<PlannedRange> planned,
            Optional<MemoryBytes> measured,
            Optional<MemoryBytes> corrected) {}

    /** An estimate with its range. */
    public record PlannedRange(MemoryBytes lower, MemoryBytes point, MemoryBytes upper) {}

    /**
     * A line through what was measured.
     *
     * @param samples the largest size that was measured
     * @param sizes how many sizes it rests on; 1: what exceeds the planned state is taken as proportional
     * @param need of the phase that needs most, with {@code samples}
     * @param perSample what one sample more adds to it
     * @param room what the rank could have: its limit, or its part of the device by the head where that is more; empty
     *     before its first limit
     * @param largest the most samples that stay within that; empty when none does, or nobody knows
     */
    public record MicroBatchNeed(
            int samples,
            int sizes,
            MemoryBytes need,
            MemoryBytes perSample,
            Optional<MemoryBytes> room,
            OptionalInt largest) {}
}
