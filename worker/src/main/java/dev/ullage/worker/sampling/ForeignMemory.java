package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.UnlistedMemory;
import java.util.Optional;
import java.util.Set;

/** Memory on a device that belongs to no rank of ours. Pure. */
public final class ForeignMemory {
    /**
     * The budget follows foreign memory in steps of this size, rounded up: a jitter of a few pages then neither
     * rewrites the ledger nor moves any limit.
     */
    static final MemoryBytes GRANULE = MemoryBytes.ofMebibytes(64);

    private ForeignMemory() {}

    /**
     * The sum over the processes that are none of {@code ours}, rounded up to {@link #GRANULE}. Empty when the process
     * list, or the use of one process in it, is not known; and when much more is in use than all of them hold together.
     * In either case there may be some that the driver does not list, as those of the host under WSL.
     */
    public static Optional<MemoryBytes> of(DeviceReading reading, Set<Long> ours) {
        if (reading.processes().isEmpty()) {
            return Optional.empty();
        }
        // Plain numbers: this is gone through for every process at every reading.
        long foreign = 0;
        long all = 0;
        for (ProcessUse process : reading.processes().get()) {
            if (process.used().isEmpty()) {
                return Optional.empty();
            }
            long used = process.used().get().value();
            all = Math.addExact(all, used);
            if (!ours.contains(process.pid())) {
                foreign = Math.addExact(foreign, used);
            }
        }
        return isMoreInUse(reading, MemoryBytes.of(all))
                ? Optional.empty()
                : Optional.of(MemoryBytes.of(foreign).roundedUpTo(GRANULE));
    }

    private static boolean isMoreInUse(DeviceReading reading, MemoryBytes listed) {
        return reading.memory()
                .filter(memory ->
                        UnlistedMemory.isOfAProcess(memory.used().minusOrZero(listed), Optional.of(memory.total())))
                .isPresent();
    }
}
