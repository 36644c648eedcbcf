package dev.ullage.coordinator.admission;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.Identity;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.coordinator.admission.GangAttempt.Send;
import dev.ullage.coordinator.admission.GangAttempt.State;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import dev.ullage.coordinator.view.Heard;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * All reservations that this coordinator has made, or found: each followed by a {@link GangAttempt} until no ledger has
 * any of it. Brings them what the ledgers report, and says what became of them. Mutable, with a single owner.
 */
final class Attempts {
    private static final Duration RESEND = Duration.ofSeconds(1);
    private static final Duration GIVEN_BACK_WITHIN = Duration.ofSeconds(1);

    private final NavigableMap<ReservationId, GangAttempt> open = new TreeMap<>();
    /** What each device was last looked at by. */
    private final NavigableMap<DeviceId, Read> read = new TreeMap<>();

    private GangRecovery recovery = GangRecovery.NONE;

    /** A report and what it says here. */
    private record Read(Heard<LimitsReported> heard, DeviceReservations says) {

        /** What follows from the ledger alone is not made again for one that says the same. */
        static Read of(Heard<LimitsReported> heard, @Nullable Read before) {
            boolean isSame = before != null
                    && Identity.isSame(
                            before.heard.message().ledger(), heard.message().ledger());
            return new Read(heard, before != null && isSame ? before.says : DeviceReservations.of(heard.message()));
        }
    }

    /** What became of one. */
    sealed interface Outcome {
        Reservation reservation();

        /** All of it is committed. */
        record Placed(Reservation reservation) implements Outcome {}

        /** An earlier coordinator's, all of it committed. */
        record Found(Reservation reservation) implements Outcome {}

        /** It is being given back, and not because its job wanted that. */
        record Failed(Reservation reservation, String reason) implements Outcome {}
    }

    void begin(Reservation reservation, Instant now) {
        open.put(reservation.id(), GangAttempt.start(reservation, now));
    }

    /** Its job does not want it any more. */
    void release(ReservationId id, String why, Instant now) {
        open.computeIfPresent(id, (known, attempt) -> attempt.release(why, now));
    }

    /** A ledger said no. */
    List<Outcome> refused(ReservationId id, DeviceId device, String why, Instant now) {
        GangAttempt attempt = open.get(id);
        if (attempt == null) {
            return List.of();
        }
        return moved(attempt, attempt.onRefused(device, why, now));
    }

    /** Whether all of it is committed, as far as is known, and is to stay. */
    boolean isPlaced(Reservation reservation) {
        GangAttempt attempt = open.get(reservation.id());
        return attempt != null && attempt.isPlaced();
    }

    void forget() {
        open.clear();
        read.clear();
        recovery = GangRecovery.NONE;
    }

    /** Whether the ledgers keep, or may keep, something by this name that is not being given back. */
    Collection<Reservation> kept() {
        return open.values().stream()
                .filter(attempt -> attempt.state() != State.RELEASING)
                .map(GangAttempt::reservation)
                .toList();
    }

    /**
     * What is being given back, and is room again in a moment: only where a report still shows it, because elsewhere it
     * is counted as room already.
     */
    List<RunningGang> leaving(ClusterView view, Instant now) {
        Instant goneAt = now.plus(GIVEN_BACK_WITHIN);
        return open.values().stream()
                .filter(attempt -> attempt.state() == State.RELEASING)
                .map(GangAttempt::reservation)
                .map(kept -> RunningGang.leaving(
                        kept.id().job(), Claim.of(shown(kept, view), kept.host().orElse(HostNeed.NONE)), goneAt))
                .toList();
    }

    private static List<ReservedPart> shown(Reservation reservation, ClusterView view) {
        return reservation.parts().stream()
                .filter(part -> view.device(part.device())
                        .flatMap(DeviceView::report)
                        .flatMap(heard -> DeviceReservations.of(heard.message()).find(reservation.id()))
                        .isPresent())
                .toList();
    }

    /** What the newest reports come to. */
    List<Outcome> read(ClusterView view, CoordinatorToken token, Instant now) {
        List<Outcome> outcomes = new ArrayList<>();
        List<DeviceReservations> reports = new ArrayList<>();
        for (DeviceView device : view.devices()) {
            if (device.obeys(token)) {
                Heard<LimitsReported> heard = device.report().orElseThrow();
                Read before = read.get(device.id());
                Read newest = Read.of(heard, before);
                read.put(device.id(), newest);
                reports.add(newest.says());
                boolean isNew = before == null || !before.heard.at().equals(heard.at());
                if (isNew && !open.isEmpty()) {
                    outcomes.addAll(read(newest.says(), now));
                }
            }
        }
        read.keySet().removeIf(device -> view.device(device).isEmpty());
        GangRecovery.Turn turn = recovery.turn(reports, token, open::containsKey, now);
        recovery = turn.recovery();
        for (GangAttempt found : turn.found()) {
            open.put(found.reservation().id(), found);
            if (found.isPlaced()) {
                outcomes.add(new Outcome.Found(found.reservation()));
            }
        }
        return outcomes;
    }

    private List<Outcome> read(DeviceReservations report, Instant now) {
        List<Outcome> outcomes = new ArrayList<>();
        for (GangAttempt attempt : List.copyOf(open.values())) {
            boolean isConcerned = attempt.reservation().part(report.device()).isPresent();
            if (isConcerned) {
                outcomes.addAll(moved(attempt, attempt.onReport(report, now)));
            }
        }
        return outcomes;
    }

    /** What is to be said to workers now; an attempt that is too late is given up first. */
    List<Send> sends(ClusterView view, List<Outcome> outcomes, Instant now) {
        List<Send> sends = new ArrayList<>();
        for (GangAttempt attempt : List.copyOf(open.values())) {
            GangAttempt.Turn turn = attempt.forgetting(
                            device -> view.device(device).isPresent())
                    .turn(now, RESEND);
            outcomes.addAll(moved(attempt, turn.attempt()));
            sends.addAll(turn.sends());
        }
        return sends;
    }

    private List<Outcome> moved(GangAttempt before, GangAttempt after) {
        Reservation reservation = after.reservation();
        if (after.state() == State.ENDED) {
            open.remove(reservation.id());
        } else {
            open.put(reservation.id(), after);
        }
        if (before.state() == after.state()) {
            return List.of();
        }
        return switch (after.state()) {
            case PLACED -> List.of(new Outcome.Placed(reservation));
            case RELEASING ->
                List.of(new Outcome.Failed(reservation, after.reason().orElse("it was released")));
            case RESERVING, COMMITTING, ENDED -> List.of();
        };
    }
}
