package dev.ullage.coordinator.admission;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;

/**
 * What a device's report says about jobs' room.
 *
 * @param jobs those that have ranks there
 */
public record DeviceReservations(DeviceId device, List<ReservationReport> reservations, NavigableSet<JobId> jobs) {
    public DeviceReservations {
        reservations = List.copyOf(reservations);
        jobs = new TreeSet<>(jobs);
    }

    /** A worker that knows no reservations holds none. */
    public static DeviceReservations of(LimitsReported report) {
        NavigableSet<JobId> jobs = new TreeSet<>();
        report.ledger()
                .grants()
                .forEach(grant -> jobs.add(grant.instance().rank().job()));
        return new DeviceReservations(
                report.device(), report.ledger().reservations().orElse(List.of()), jobs);
    }

    Optional<ReservationReport> find(ReservationId id) {
        return reservations.stream()
                .filter(report -> report.reservation().id().equals(id))
                .findFirst();
    }
}
