package dev.ullage.common.model;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Room for all ranks of a job, or for none. The whole layout stands in the ledger of every device of it, so that each
 * of them tells a new coordinator of the others.
 *
 * @param priority the job's
 * @param parts one for each device, 1 to {@value #MAX_PARTS}
 * @param host what each rank asks of its host beside the device: the ledger keeps it for who counts it, and holds
 *     nobody to it; empty: nothing, or it was made before there was such a thing
 */
public record Reservation(
        ReservationId id, Priority priority, List<ReservedPart> parts, Optional<JobRequest.HostNeed> host) {
    /** A job on more devices than this cannot be placed as a whole. */
    public static final int MAX_PARTS = 1024;

    public Reservation {
        parts = List.copyOf(parts);
        if (parts.isEmpty() || parts.size() > MAX_PARTS) {
            throw new IllegalArgumentException(
                    "a reservation has 1 to " + MAX_PARTS + " parts: " + id + " has " + parts.size());
        }
        Set<DeviceId> devices = parts.stream().map(ReservedPart::device).collect(Collectors.toCollection(TreeSet::new));
        if (devices.size() < parts.size()) {
            throw new IllegalArgumentException("a reservation names each device once: " + id + " has " + parts);
        }
    }

    /** One that asks nothing of its hosts. */
    public Reservation(ReservationId id, Priority priority, List<ReservedPart> parts) {
        this(id, priority, parts, Optional.empty());
    }

    public Reservation with(JobRequest.HostNeed need) {
        return new Reservation(id, priority, parts, need.isNone() ? Optional.empty() : Optional.of(need));
    }

    /** The part of it on one device alone. */
    public Reservation only(ReservedPart part) {
        return new Reservation(id, priority, List.of(part), host);
    }

    /** What it takes of the device; empty where it takes nothing. */
    public Optional<ReservedPart> part(DeviceId device) {
        return parts.stream().filter(part -> part.device().equals(device)).findFirst();
    }
}
