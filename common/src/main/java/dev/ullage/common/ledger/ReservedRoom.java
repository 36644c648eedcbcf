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
    static final ReservedRoom NONE = new ReservedRoom(new TreeMap<>(), new TreeMap<>());

    /** What is reserved for each job, and what the ceilings of its ranks come to; of jobs with a reservation alone. */
    private final NavigableMap<JobId, MemoryBytes> amounts;

    private final NavigableMap<JobId, MemoryBytes> ceilings;
    private final MemoryBytes total;

    private ReservedRoom(NavigableMap<JobId, MemoryBytes> amounts, NavigableMap<JobId, MemoryBytes> ceilings) {
        this.amounts = amounts;
        this.ceilings = ceilings;
        this.total = amounts.keySet().stream().map(this::of).reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }

    static ReservedRoom of(DeviceId device, Collection<HeldReservation> reservations, Collection<Grant> grants) {
        if (reservations.isEmpty()) {
            return NONE;
        }
        NavigableMap<JobId, MemoryBytes> amounts = new TreeMap<>();
        reservations.forEach(held -> amounts.merge(held.id().job(), amount(held, device), MemoryBytes::plus));
        NavigableMap<JobId, MemoryBytes> ceilings = new TreeMap<>();
        amounts.keySet().forEach(job -> ceilings.put(job, MemoryBytes.ZERO));
        for (Grant grant : grants) {
            ceilings.computeIfPresent(grant.instance().rank().job(), (job, sum) -> sum.plus(grant.ceiling()));
        }
        return new ReservedRoom(amounts, ceilings);
    }

    /** The ceiling of a rank of the job moved. */
    ReservedRoom moved(JobId job, MemoryBytes from, MemoryBytes to) {
        if (!ceilings.containsKey(job)) {
            return this;
        }
        NavigableMap<JobId, MemoryBytes> changed = new TreeMap<>(ceilings);
        changed.computeIfPresent(job, (same, sum) -> sum.minus(from).plus(to));
        return new ReservedRoom(amounts, changed);
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
        return amounts.getOrDefault(job, MemoryBytes.ZERO).minusOrZero(ceilings.getOrDefault(job, MemoryBytes.ZERO));
    }
}
