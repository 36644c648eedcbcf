package dev.ullage.coordinator.admission;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.ReservationReport;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Finds reservations that nobody here knows of: those of a coordinator before this one, and what a late message left of
 * an attempt that has ended. Pure and immutable; asked on every tick, for as long as a coordinator is active.
 *
 * <p>One that every device of it reports as committed may be a running job, and is kept. Of any other, all is released:
 * its coordinator cannot have told anybody that it was placed, and cannot go on with it, because every device that has
 * reported obeys this one. Where a device has not reported yet, the answer waits for it, and no longer than
 * {@link #PATIENCE} unless ranks of the job are seen: those were told.
 */
public final class GangRecovery {
    /** How long the parts of a job wait for a report of the others. */
    static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Knows of none. */
    public static final GangRecovery NONE = new GangRecovery(new TreeMap<>(), new TreeSet<>());

    private final NavigableMap<ReservationId, Instant> undecided;
    private final NavigableSet<ReservationId> foundBefore;

    private GangRecovery(NavigableMap<ReservationId, Instant> undecided, NavigableSet<ReservationId> foundBefore) {
        this.undecided = undecided;
        this.foundBefore = foundBefore;
    }

    /**
     * What became of the reservations that were found.
     *
     * @param found to be followed like one's own from now on: {@code PLACED} or {@code RELEASING}
     */
    public record Turn(GangRecovery recovery, List<GangAttempt> found) {
        public Turn {
            found = List.copyOf(found);
        }
    }

    /**
     * @param reports the newest of every device that obeys {@code token}
     * @param isMine whether an attempt of this name is followed already
     */
    public Turn turn(
            List<DeviceReservations> reports, CoordinatorToken token, Predicate<ReservationId> isMine, Instant now) {
        NavigableMap<ReservationId, Reservation> strangers = new TreeMap<>();
        for (DeviceReservations report : reports) {
            report.reservations().stream()
                    .map(ReservationReport::reservation)
                    .filter(reservation -> !isMine.test(reservation.id()))
                    .forEach(reservation -> strangers.put(reservation.id(), reservation));
        }
        if (strangers.isEmpty()) {
            return new Turn(new GangRecovery(new TreeMap<>(), foundBefore), List.of());
        }
        NavigableMap<DeviceId, DeviceReservations> byDevice = new TreeMap<>();
        reports.forEach(report -> byDevice.put(report.device(), report));
        NavigableMap<ReservationId, Instant> open = new TreeMap<>();
        List<GangAttempt> found = new ArrayList<>();
        for (Reservation stranger : strangers.values()) {
            Instant since = undecided.getOrDefault(stranger.id(), now);
            boolean isGivenBack = stranger.id().token().equals(token) || foundBefore.contains(stranger.id());
            Optional<GangAttempt> verdict = isGivenBack
                    ? Optional.of(GangAttempt.releasing(stranger, "what a late message left of it", now))
                    : judge(stranger, byDevice, since, now);
            verdict.ifPresentOrElse(found::add, () -> open.put(stranger.id(), since));
        }
        NavigableSet<ReservationId> all = new TreeSet<>(foundBefore);
        found.forEach(attempt -> all.add(attempt.reservation().id()));
        return new Turn(new GangRecovery(open, all), found);
    }

    /** Empty: that is not known yet. */
    private static Optional<GangAttempt> judge(
            Reservation stranger, NavigableMap<DeviceId, DeviceReservations> reports, Instant since, Instant now) {
        List<ReservedPart> silent = new ArrayList<>();
        boolean hasRanks = false;
        for (ReservedPart part : stranger.parts()) {
            DeviceReservations report = reports.get(part.device());
            if (report == null) {
                silent.add(part);
                continue;
            }
            boolean isCommitted = report.find(stranger.id())
                    .filter(ReservationReport::committed)
                    .isPresent();
            if (!isCommitted) {
                String why = "its coordinator was replaced before every part was committed: " + part.device() + " of "
                        + part.node() + " is not";
                return Optional.of(GangAttempt.releasing(stranger, why, now));
            }
            hasRanks |= report.jobs().contains(stranger.id().job());
        }
        if (silent.isEmpty()) {
            return Optional.of(GangAttempt.placed(stranger, now));
        }
        if (hasRanks || now.isBefore(since.plus(PATIENCE))) {
            return Optional.empty();
        }
        ReservedPart first = silent.get(0);
        return Optional.of(GangAttempt.releasing(
                stranger,
                "its coordinator was replaced, and " + first.device() + " of " + first.node() + " has not reported for "
                        + PATIENCE.toSeconds() + " s",
                now));
    }

    /** Those that wait for the report of a device: nothing is done about them meanwhile. */
    public List<ReservationId> undecided() {
        return List.copyOf(undecided.keySet());
    }
}
