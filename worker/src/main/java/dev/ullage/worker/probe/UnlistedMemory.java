package dev.ullage.worker.probe;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.util.Optional;

/** Memory in use on a device that none of its listed processes holds: some is always the driver's. Pure. */
public final class UnlistedMemory {
    /**
     * What a driver may hold. One before 510 counts its reserve as used, which is 0.2 to 0.9 GiB on the cards of the
     * recordings; on a Grace Hopper of 96 GiB the kernel has 1.7 GiB, which grows with the card. A context is no part
     * of it: it is listed with its process.
     */
    private static final MemoryBytes OF_DRIVER = MemoryBytes.ofGibibytes(1);

    private static final Share OF_DRIVER_SHARE = Share.ofPercent(2);

    private UnlistedMemory() {}

    /**
     * Whether it is more than a driver holds: then some process holds it that the list does not have.
     *
     * @param unlisted what is in use, less what the listed processes hold
     * @param total of the device; empty if not known
     */
    public static boolean isOfAProcess(MemoryBytes unlisted, Optional<MemoryBytes> total) {
        MemoryBytes ofTotal = total.map(bytes -> bytes.times(OF_DRIVER_SHARE)).orElse(MemoryBytes.ZERO);
        return unlisted.isMoreThan(OF_DRIVER.max(ofTotal));
    }
}
