package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;

/** Room on top of an amount, in whole bytes. */
final class Room {
    private Room() {}

    /** {@code amount + floor(amount x room)}, at most the largest amount there is. */
    static MemoryBytes over(MemoryBytes amount, Share room) {
        return MemoryBytes.of(over(amount.value(), room.basisPoints()));
    }

    static long over(long bytes, int basisPoints) {
        long whole = bytes / Share.ONE_IN_BASIS_POINTS;
        long rest = bytes % Share.ONE_IN_BASIS_POINTS;
        long room = whole * basisPoints + rest * basisPoints / Share.ONE_IN_BASIS_POINTS;
        return bytes + Math.min(room, Long.MAX_VALUE - bytes);
    }
}
