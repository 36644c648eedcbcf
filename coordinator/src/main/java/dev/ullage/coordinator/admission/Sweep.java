package dev.ullage.coordinator.admission;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.coordinator.admission.RoomMessage.Step;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * What ledgers keep for nobody that this coordinator knows. A reservation of an earlier coordinator that every one of
 * its devices has committed is a job that runs; everything else is released, and again until no report shows it, also
 * of a device that was out of reach. So a job never has a part of its room for longer than it takes to say so. Mutable,
 * with a single owner.
 */
final class Sweep {
    private static final Duration RESEND = Duration.ofSeconds(1);

    private final NavigableMap<ReservationId, Instant> released = new TreeMap<>();

    /**
     * @param sends releases
     * @param found jobs of an earlier coordinator that have all of their room
     */
    record Turn(List<RoomMessage> sends, List<Reservation> found) {
        Turn {
            sends = List.copyOf(sends);
            found = List.copyOf(found);
        }
    }

    /**
     * @param owned what this coordinator has given, or is giving
     * @param isSettled whether every ledger that will report has reported: until then a part may only seem alone
     */
    Turn turn(
            ClusterView view,
            CoordinatorToken own,
            Collection<ReservationId> owned,
            Predicate<Reservation> isWanted,
            boolean isSettled,
            Instant now) {
        List<RoomMessage> sends = new ArrayList<>();
        List<Reservation> found = new ArrayList<>();
        NavigableMap<ReservationId, Reservation> shown = new TreeMap<>();
        view.devices().stream()
                .flatMap(Attempts::shownOn)
                .map(ReservationReport::reservation)
                .forEach(reservation -> shown.put(reservation.id(), reservation));
        NavigableSet<ReservationId> ours = new TreeSet<>(owned);
        shown.keySet().removeAll(ours);
        released.keySet().retainAll(shown.keySet());
        for (Reservation reservation : shown.values()) {
            boolean isEarlier = !reservation.id().token().equals(own);
            if (isEarlier && isWanted.test(reservation) && isCommittedEverywhere(reservation, view)) {
                found.add(reservation);
            } else if ((!isEarlier || isSettled) && isDue(reservation.id(), now)) {
                released.put(reservation.id(), now);
                view.devices().stream()
                        .filter(device -> shows(device, reservation.id(), report -> true))
                        .forEach(device ->
                                sends.add(new RoomMessage(device.node(), device.id(), Step.RELEASE, reservation)));
            }
        }
        return new Turn(sends, found);
    }

    private boolean isDue(ReservationId id, Instant now) {
        Instant last = released.get(id);
        return last == null || !last.plus(RESEND).isAfter(now);
    }

    private static boolean isCommittedEverywhere(Reservation reservation, ClusterView view) {
        return reservation.parts().stream().allMatch(part -> view.device(part.device())
                .filter(device -> shows(device, reservation.id(), ReservationReport::committed))
                .isPresent());
    }

    private static boolean shows(DeviceView device, ReservationId id, Predicate<ReservationReport> isRight) {
        return Attempts.shownOn(device)
                .filter(report -> report.reservation().id().equals(id))
                .anyMatch(isRight);
    }

    void forget() {
        released.clear();
    }
}
