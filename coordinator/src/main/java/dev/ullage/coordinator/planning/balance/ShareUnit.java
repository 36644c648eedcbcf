package dev.ullage.coordinator.planning.balance;

import dev.ullage.common.model.MemoryBytes;

/** What parts of a device are counted in. */
public enum ShareUnit {
    /** Thousandths of a device. */
    MILLI_DEVICE(1),
    /** Bytes of device memory, planned in whole MiB: requests are rounded up, room is rounded down. */
    BYTES(MemoryBytes.MEBIBYTE);

    private final long grain;

    ShareUnit(long grain) {
        this.grain = grain;
    }

    int roomInGrains(long amount) {
        return Math.toIntExact(amount / grain);
    }

    int needInGrains(long amount) {
        return Math.toIntExact(amount / grain + (amount % grain == 0 ? 0 : 1));
    }

    /** For people. */
    String text(long amount) {
        return this == BYTES ? MemoryBytes.of(amount).toString() : amount + " milli";
    }
}
