package dev.ullage.coordinator.planning.balance;

import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.Optional;

/**
 * What may still be placed on one device.
 *
 * @param device its id
 * @param capacity all of it, in the board's unit, more than 0
 * @param room what is left for requests, 0 to {@code capacity}
 * @param reason why there is none; present only when {@code room} is 0 for another cause than being taken
 */
public record DeviceRoom(String device, long capacity, long room, Optional<String> reason) {
    public DeviceRoom {
        if (capacity <= 0 || room < 0 || room > capacity) {
            throw new IllegalArgumentException(
                    "device %s: room must be 0 to capacity, capacity more than 0; room %d, capacity %d"
                            .formatted(device, room, capacity));
        }
        if (reason.isPresent() && room > 0) {
            throw new IllegalArgumentException(
                    "device %s has room %d and a reason for none: %s".formatted(device, room, reason.orElseThrow()));
        }
    }

    /** A whole device of a thousand milli, all of it free. */
    public static DeviceRoom wholeDevice(String device) {
        return new DeviceRoom(device, 1000, 1000, Optional.empty());
    }

    /**
     * Room in bytes: the lesser of what the ledger has not promised and what was measured to be free, so that neither a
     * promise nor memory of a foreign process is given away again.
     *
     * @param ledgerFree budget less ceilings
     * @param measuredFree what the driver says is free; empty when that is not known, and then there is no room
     * @param out why the device takes nothing at all (lost, faulty, draining); empty when it does
     */
    public static DeviceRoom ofMemory(
            String device,
            MemoryBytes capacity,
            MemoryBytes ledgerFree,
            Optional<MemoryBytes> measuredFree,
            List<String> out) {
        if (!out.isEmpty()) {
            return none(device, capacity, String.join(", ", out));
        }
        if (measuredFree.isEmpty()) {
            return none(device, capacity, "its free memory is not known");
        }
        MemoryBytes room = ledgerFree.min(measuredFree.orElseThrow()).min(capacity);
        return new DeviceRoom(device, capacity.value(), room.value(), Optional.empty());
    }

    private static DeviceRoom none(String device, MemoryBytes capacity, String reason) {
        return new DeviceRoom(device, capacity.value(), 0, Optional.of(reason));
    }
}
