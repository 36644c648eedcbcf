package dev.ullage.coordinator.evenness;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankWatch.Batch;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * What evenness goes by of one rank.
 *
 * @param place its device, for people
 * @param peaks unmodifiable; what counts against its limit in each phase, at most, where it is known
 * @param usable what its allocator may hold in the phases that hold activations, by its limit
 * @param takesTurns whether its limit is not what it may hold: turns come on top of it
 */
record RankLoad(
        RankInstance instance,
        OptionalInt worldSize,
        String place,
        Map<Phase, MemoryBytes> peaks,
        OptionalLong step,
        long steps,
        Optional<Batch> batch,
        Optional<MemoryBytes> usable,
        boolean takesTurns) {

    int rank() {
        return instance.rank().rank();
    }

    Optional<MemoryBytes> peak(Phase phase) {
        return Optional.ofNullable(peaks.get(phase));
    }

    /** The most it held while there were activations. */
    Optional<MemoryBytes> activePeak() {
        return Stream.of(Phase.FORWARD, Phase.BACKWARD)
                .flatMap(phase -> peak(phase).stream())
                .reduce(MemoryBytes::max);
    }
}
