package dev.ullage.common.ledger;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.ReservedPart;
import java.util.Collection;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * What a device keeps for jobs beyond what their ranks there have been promised: {@code outstanding(job) = max(0, sum
 * of what is reserved for it - sum of its ranks' ceilings)}. So a rank of the job takes the room its job keeps, and
 * gives it back to the job, not to everybody, when it shrinks or leaves.
 */
final class ReservedRoom {
    static final ReservedRoom NONE = new ReservedRoom(new TreeMap<>());

    private final NavigableMap<JobId, MemoryBytes> outstanding;
    private final MemoryBytes total;

    private ReservedRoom(NavigableMap<JobId, MemoryBytes> outstanding) {
        this.outstanding = outstanding;
        this.total = outstanding.values().stream().reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }

    static ReservedRoom of(DeviceId device, Collection<HeldReservation> reservations, Collection<Grant> grants) {
        if (reservations.isEmpty()) {
            return NONE;
        }
        NavigableMap<JobId, MemoryBytes> rooms = new TreeMap<>();
        reservations.forEach(held -> rooms.merge(held.id().job(), amount(held, device), MemoryBytes::plus));
        for (Grant grant : grants) {
            rooms.computeIfPresent(grant.instance().rank().job(), (job, room) -> room.minusOrZero(grant.ceiling()));
        }
        return new ReservedRoom(rooms);
    }

    /** What the reservation takes of the device. */
    static MemoryBytes amount(HeldReservation held, DeviceId device) {
        return held.reservation().part(device).map(ReservedPart::amount).orElse(MemoryBytes.ZERO);
    }

    MemoryBytes total() {
        return total;
    }

    /** What the job's ranks may still take of what is kept for them. */
    MemoryBytes of(JobId job) {
        return outstanding.getOrDefault(job, MemoryBytes.ZERO);
    }
}
