package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.HeldReservation;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.LedgerEvent.ReservationCommitted;
import dev.ullage.common.ledger.LedgerEvent.ReservationMade;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.protocol.RequestState.RankPlace;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What must hold in {@link GangSimulation}: a submitter who is told where its job has room has all of it there, and
 * keeps it until it gives it back, is gone, or an operator takes it; who is not placed keeps nothing; no device
 * promises more than it has. It goes by what submitters are told and by what the ledgers keep, and not by what any
 * coordinator thinks: of two at once one may be wrong and know it last.
 */
final class GangPromises {
    private static final long PATIENCE_MILLIS = 60_000;

    private final NavigableMap<DeviceId, GangHost.Device> devices;
    private final NavigableMap<ReservationId, NavigableSet<DeviceId>> everReserved = new TreeMap<>();
    private final NavigableMap<JobId, NavigableMap<DeviceId, MemoryBytes>> told = new TreeMap<>();
    private final NavigableSet<JobId> everTold = new TreeSet<>();

    /** @param devices all there are */
    GangPromises(NavigableMap<DeviceId, GangHost.Device> devices) {
        this.devices = devices;
    }

    private GangHost.Device device(DeviceId id) {
        return Objects.requireNonNull(devices.get(id));
    }

    static NavigableMap<DeviceId, MemoryBytes> layout(List<RankPlace> ranks) {
        NavigableMap<DeviceId, MemoryBytes> layout = new TreeMap<>();
        ranks.forEach(rank -> layout.merge(rank.device(), rank.amount(), MemoryBytes::plus));
        return layout;
    }

    static NavigableMap<DeviceId, MemoryBytes> layout(Reservation reservation) {
        NavigableMap<DeviceId, MemoryBytes> layout = new TreeMap<>();
        reservation.parts().forEach(part -> layout.put(part.device(), part.amount()));
        return layout;
    }

    // ---- what submitters are told

    /** Its submitter is told that it has so much on each of these devices. */
    void told(JobId job, NavigableMap<DeviceId, MemoryBytes> layout) {
        told.put(job, layout);
        everTold.add(job);
        layout.keySet().forEach(id -> requireKept(job, layout, device(id)));
    }

    /** Its submitter gives it back or is gone, or an operator takes it. */
    void over(JobId job) {
        told.remove(job);
    }

    boolean wasEverTold(JobId job) {
        return everTold.contains(job);
    }

    // ---- what devices do

    void happened(GangHost.Device device, LedgerEvent event) {
        if (event instanceof ReservationMade made) {
            everReserved
                    .computeIfAbsent(made.reservation().id(), key -> new TreeSet<>())
                    .add(device.id);
        } else if (event instanceof ReservationCommitted committed) {
            Reservation reservation = device.logic()
                    .ledger()
                    .reservation(committed.id())
                    .orElseThrow()
                    .reservation();
            NavigableSet<DeviceId> reserved = everReserved.getOrDefault(committed.id(), new TreeSet<>());
            reservation
                    .parts()
                    .forEach(part -> require(
                            reserved.contains(part.device()),
                            committed.id() + " is committed on " + device.id + " before " + part.device()
                                    + " has reserved it"));
        }
    }

    /** What is promised fits, what the ranks have in force fits, and no placed job has lost its part. */
    void check(GangHost.Device device) {
        DeviceLedger ledger = device.logic().ledger();
        MemoryBytes budget = ledger.inForce().budget();
        if (!device.wasWiped) {
            long promised = promised(device.id, ledger);
            require(promised <= budget.value(), device.id + " promised " + promised + " of " + budget.value());
            require(promised == ledger.promised().value(), device.id + " counts wrongly: " + ledger.promised());
            long inForce = device.ranks.values().stream()
                    .mapToLong(rank -> rank.inForce.value())
                    .sum();
            require(inForce <= budget.value(), device.id + " has " + inForce + " in force of " + budget.value());
        }
        told.forEach((job, layout) -> {
            if (layout.containsKey(device.id)) {
                requireKept(job, layout, device);
            }
        });
    }

    private static long promised(DeviceId device, DeviceLedger ledger) {
        NavigableMap<JobId, Long> ceilings = new TreeMap<>();
        ledger.grants()
                .forEach(grant -> ceilings.merge(
                        grant.instance().rank().job(), grant.ceiling().value(), Long::sum));
        NavigableMap<JobId, Long> most = new TreeMap<>();
        ledger.reservations()
                .forEach(held -> most.merge(
                        held.id().job(),
                        held.reservation().part(device).orElseThrow().amount().value(),
                        Long::sum));
        ceilings.forEach((job, amount) -> most.merge(job, amount, Math::max));
        return most.values().stream().mapToLong(Long::longValue).sum();
    }

    private void requireKept(JobId job, NavigableMap<DeviceId, MemoryBytes> layout, GangHost.Device device) {
        if (layout.keySet().stream().anyMatch(id -> hasNoPromise(device(id)))) {
            return;
        }
        DeviceLedger ledger = device.newest();
        MemoryBytes part = Objects.requireNonNull(layout.get(device.id));
        boolean isKept = ledger.reservations().stream()
                .filter(held -> held.committed() && held.id().job().equals(job))
                .flatMap(held -> held.reservation().part(device.id).stream())
                .anyMatch(kept -> !part.isMoreThan(kept.amount()));
        require(
                isKept,
                "%s was told that it has %s on %s, which does not keep it: %s"
                        .formatted(job, part, device.id, ledger.reservations()));
    }

    /** No promise outlives the disk it stands on, nor is a device waited for that is silent for a minute. */
    private boolean hasNoPromise(GangHost.Device device) {
        return device.wasWiped || device.host().wasAwayFor(PATIENCE_MILLIS);
    }

    // ---- at the end

    /** With no coordinator: what nobody committed is gone. */
    void checkAllIsCommitted(Collection<GangHost.Device> all) {
        for (GangHost.Device device : all) {
            device.logic()
                    .ledger()
                    .reservations()
                    .forEach(held -> require(
                            held.committed(), device.id + " still keeps " + held.reservation() + ", not committed"));
        }
    }

    /**
     * Whoever is not placed keeps no part, and who is has one reservation and not two.
     *
     * @param placed those that are, or are being placed in this moment
     * @param trying those that fail at it again and again: of what they reserved something may still be there
     */
    void checkNobodyElseHoldsAPart(
            Collection<GangHost.Device> all, Collection<JobId> placed, Collection<JobId> trying) {
        NavigableMap<JobId, ReservationId> names = new TreeMap<>();
        for (GangHost.Device device : all) {
            for (HeldReservation held : device.logic().ledger().reservations()) {
                JobId job = held.id().job();
                boolean isOnlyOne = held.id().equals(names.getOrDefault(job, held.id()));
                require(
                        (placed.contains(job) && isOnlyOne) || (trying.contains(job) && !held.committed()),
                        device.id + " still keeps " + held.reservation() + ", which is not placed");
                names.put(job, held.id());
            }
        }
    }

    static void require(boolean condition, String violation) {
        if (!condition) {
            throw new Violation(Violation.Kind.SAFETY, violation);
        }
    }
}
