package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.HeldReservation;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.LedgerEvent.ReservationCommitted;
import dev.ullage.common.ledger.LedgerEvent.ReservationMade;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.simulation.VirtualTime;
import java.util.Collection;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What jobs of {@link GangSimulation} were promised by whom, and what must hold of it: one who is told that it is
 * placed has all of its parts, and keeps them until its submitter gives them back or is gone; who is not placed keeps
 * none; no device promises more than it has.
 *
 * <p>Of two coordinators at once the one with the higher token counts: once it has found a job placed, every device of
 * the job obeys it. What one with a lower token decides about the job after that is refused by all of them, so it is no
 * decision about the job. That the parts stay is checked all the same, at every event of a device.
 */
final class GangPromises {
    private final NavigableMap<DeviceId, GangHost.Device> devices;
    private final VirtualTime time;
    private final NavigableMap<ReservationId, NavigableSet<DeviceId>> everReserved = new TreeMap<>();
    private final NavigableMap<ReservationId, Standing> standings = new TreeMap<>();
    private final NavigableMap<ReservationId, Long> leftAt = new TreeMap<>();

    /** @param devices all there are */
    GangPromises(NavigableMap<DeviceId, GangHost.Device> devices, VirtualTime time) {
        this.devices = devices;
        this.time = time;
    }

    /**
     * What was decided of a reservation last.
     *
     * @param by whose decision it was
     * @param isPlaced whether it is to stay, or else given back
     */
    private record Standing(Reservation reservation, CoordinatorToken by, boolean isPlaced) {}

    private GangHost.Device device(DeviceId id) {
        return Objects.requireNonNull(devices.get(id));
    }

    // ---- what coordinators decide

    /** Its submitter is told, or a new coordinator takes it for placed: also where an older one was giving it back. */
    void placed(Reservation reservation, CoordinatorToken by) {
        if (isDecidedByNewer(reservation.id(), by)) {
            return;
        }
        standings.put(reservation.id(), new Standing(reservation, by, true));
        if (isToStay(reservation)) {
            reservation.parts().forEach(part -> requireCommitted(reservation, device(part.device())));
        }
    }

    /** Its submitter gives it back, and is heard by the coordinator with this token. */
    void withdrawn(Reservation reservation, CoordinatorToken by) {
        leftAt.putIfAbsent(reservation.id(), time.nowMillis());
        if (!isDecidedByNewer(reservation.id(), by)) {
            standings.put(reservation.id(), new Standing(reservation, by, false));
        }
    }

    /** A coordinator gives it back without being asked to: only where nobody was told, or he is gone, or a disk is. */
    void givenBack(Reservation reservation, CoordinatorToken by, String why) {
        if (isDecidedByNewer(reservation.id(), by)) {
            return;
        }
        require(
                !isPlaced(reservation.id()) || !isToStay(reservation) || isSubmitterGone(reservation.id()),
                reservation.id() + " was placed and is given back: " + why);
        standings.put(reservation.id(), new Standing(reservation, by, false));
    }

    private boolean isDecidedByNewer(ReservationId id, CoordinatorToken by) {
        return standing(id).filter(last -> by.isOlderThan(last.by())).isPresent();
    }

    private Optional<Standing> standing(ReservationId id) {
        return Optional.ofNullable(standings.get(id));
    }

    private boolean isPlaced(ReservationId id) {
        return standing(id).filter(Standing::isPlaced).isPresent();
    }

    /** Not a word of him since. */
    private boolean isSubmitterGone(ReservationId id) {
        return leftAt.containsKey(id);
    }

    /** Since when nothing is heard of who submitted it; empty: he is there. */
    Optional<Long> silentSince(ReservationId id) {
        return Optional.ofNullable(leftAt.get(id));
    }

    boolean isAnyPlaced(JobId job) {
        return standings.values().stream()
                .anyMatch(one -> one.isPlaced() && one.reservation().id().job().equals(job));
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
        for (Standing standing : standings.values()) {
            Reservation reservation = standing.reservation();
            if (standing.isPlaced() && reservation.part(device.id).isPresent() && isToStay(reservation)) {
                requireCommitted(reservation, device);
            }
        }
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

    /** No promise outlives the disk it stands on. */
    private boolean isToStay(Reservation reservation) {
        return reservation.parts().stream().noneMatch(part -> device(part.device()).wasWiped);
    }

    private static void requireCommitted(Reservation reservation, GangHost.Device device) {
        DeviceLedger ledger = device.host().isAlive() ? device.logic().ledger() : device.durable();
        require(
                ledger.reservation(reservation.id())
                        .filter(HeldReservation::committed)
                        .isPresent(),
                reservation.id() + " is placed and " + device.id + " does not keep its part");
    }

    // ---- at the end

    /** @param isNobodyLeft whether there is no coordinator: then only what nobody committed is to be gone */
    void checkNobodyHoldsAPart(Collection<GangHost.Device> all, boolean isNobodyLeft) {
        for (GangHost.Device device : all) {
            for (HeldReservation held : device.logic().ledger().reservations()) {
                require(
                        isNobodyLeft ? held.committed() : isPlaced(held.id()),
                        device.id + " still keeps " + held.reservation() + " which is not placed");
            }
        }
    }

    static void require(boolean condition, String violation) {
        if (!condition) {
            throw new Violation(Violation.Kind.SAFETY, violation);
        }
    }
}
