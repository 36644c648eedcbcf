package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import java.util.Optional;
import java.util.Set;

/** Memory on a device that belongs to no rank of ours. Pure. */
public final class ForeignMemory {
    /**
     * The budget follows foreign memory in steps of this size, rounded up: a jitter of a few pages then neither
     * rewrites the ledger nor moves any limit.
     */
    static final MemoryBytes GRANULE = MemoryBytes.ofMebibytes(64);

    /** What is said where it cannot be worked out, for {@link DeviceTerms#foreign} then goes by what it knew. */
    public static final String UNKNOWN =
            "what processes that are no rank's use here is unknown: limits are planned with"
                    + " what it last was known to be, at first with nothing";

    private ForeignMemory() {}

    /**
     * The sum over the processes that are none of {@code ours}, rounded up to {@link #GRANULE}; empty when the process
     * list, or the use of one of those processes, is not known.
     */
    public static Optional<MemoryBytes> of(DeviceReading reading, Set<Long> ours) {
        if (reading.processes().isEmpty()) {
            return Optional.empty();
        }
        MemoryBytes sum = MemoryBytes.ZERO;
        for (ProcessUse process : reading.processes().get()) {
            if (ours.contains(process.pid())) {
                continue;
            }
            if (process.used().isEmpty()) {
                return Optional.empty();
            }
            sum = sum.plus(process.used().get());
        }
        return Optional.of(sum.roundedUpTo(GRANULE));
    }
}
