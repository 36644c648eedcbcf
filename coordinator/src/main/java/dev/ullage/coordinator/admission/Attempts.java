package dev.ullage.coordinator.admission;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.coordinator.admission.RoomMessage.Step;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Jobs on their way to their room: every ledger reserves, then every ledger commits. What does not come to that within
 * {@link #DEADLINE} has failed, and its caller releases all of it.
 *
 * <pre>
 *   RESERVING --every report shows it--> COMMITTING --every report shows it committed--> placed
 *       |                                    |
 *       +--refused, gone, or too late--------+--> failed
 * </pre>
 *
 * <p>Only reports count. What was sent is sent again until they show it. Mutable, with a single owner.
 */
final class Attempts {
    /** Less than a ledger keeps what nobody commits: it does not expire in the middle. */
    static final Duration DEADLINE = Duration.ofSeconds(8);

    private static final Duration RESEND = Duration.ofSeconds(1);
    private static final int MAX_NAMED = 4;

    private final NavigableMap<ReservationId, Attempt> open = new TreeMap<>();

    /** @param sentAt when its present step was last sent; empty: not yet */
    private record Attempt(
            Reservation reservation, Step step, Instant since, Optional<Instant> sentAt, Optional<String> refusal) {
        Attempt at(Step next, Optional<Instant> sent) {
            return new Attempt(reservation, next, since, sent, refusal);
        }
    }

    /** How one ended, and why. */
    record Ended(Reservation reservation, boolean isPlaced, String reason) {}

    /** What is to be sent now, and what has ended. */
    record Turn(List<RoomMessage> sends, List<Ended> ended) {
        Turn {
            sends = List.copyOf(sends);
            ended = List.copyOf(ended);
        }
    }

    void begin(Reservation reservation, Instant now) {
        open.put(reservation.id(), new Attempt(reservation, Step.RESERVE, now, Optional.empty(), Optional.empty()));
    }

    /** A ledger said no. */
    void refused(ReservationId id, String reason) {
        open.computeIfPresent(
                id,
                (known, attempt) -> new Attempt(
                        attempt.reservation(), attempt.step(), attempt.since(), attempt.sentAt(), Optional.of(reason)));
    }

    /** Nobody waits for it any more. */
    void abandon(ReservationId id) {
        open.remove(id);
    }

    void forget() {
        open.clear();
    }

    Turn turn(ClusterView view, Instant now) {
        List<RoomMessage> sends = new ArrayList<>();
        List<Ended> ended = new ArrayList<>();
        for (Attempt attempt : List.copyOf(open.values())) {
            Attempt next = attempt;
            if (next.step() == Step.RESERVE && everywhere(next, view, shown -> true)) {
                next = next.at(Step.COMMIT, Optional.empty());
            }
            boolean isPlaced = next.step() == Step.COMMIT && everywhere(next, view, ReservationReport::committed);
            Optional<String> failure = isPlaced ? Optional.empty() : failure(next, view, now);
            if (isPlaced || failure.isPresent()) {
                open.remove(next.reservation().id());
                ended.add(new Ended(
                        next.reservation(), isPlaced, failure.orElseGet(() -> layout(attempt.reservation()))));
                continue;
            }
            if (next.sentAt().filter(at -> at.plus(RESEND).isAfter(now)).isEmpty()) {
                send(next, view, sends);
                next = next.at(next.step(), Optional.of(now));
            }
            open.put(next.reservation().id(), next);
        }
        return new Turn(sends, ended);
    }

    private static Optional<String> failure(Attempt attempt, ClusterView view, Instant now) {
        Optional<String> gone = attempt.reservation().parts().stream()
                .filter(part -> view.device(part.device()).isEmpty())
                .map(part -> part.device() + " of " + part.node() + " is gone")
                .findFirst();
        boolean isLate = attempt.since().plus(DEADLINE).isBefore(now);
        return attempt.refusal()
                .or(() -> gone)
                .or(() -> isLate
                        ? Optional.of("within " + DEADLINE.toSeconds() + " s " + missing(attempt, view))
                        : Optional.empty());
    }

    private static String missing(Attempt attempt, ClusterView view) {
        Predicate<ReservationReport> isDone =
                attempt.step() == Step.RESERVE ? shown -> true : ReservationReport::committed;
        List<ReservedPart> missing = attempt.reservation().parts().stream()
                .filter(part -> !isShown(attempt, view, part.device(), isDone))
                .toList();
        return "%s of %s did not confirm%s"
                .formatted(
                        missing.get(0).device(),
                        missing.get(0).node(),
                        missing.size() == 1 ? "" : ", nor did %d more".formatted(missing.size() - 1));
    }

    /** Again only to those that do not show it. */
    private static void send(Attempt attempt, ClusterView view, List<RoomMessage> sends) {
        Predicate<ReservationReport> isDone =
                attempt.step() == Step.RESERVE ? shown -> true : ReservationReport::committed;
        attempt.reservation().parts().stream()
                .filter(part -> !isShown(attempt, view, part.device(), isDone))
                .forEach(part ->
                        sends.add(new RoomMessage(part.node(), part.device(), attempt.step(), attempt.reservation())));
    }

    private static boolean everywhere(Attempt attempt, ClusterView view, Predicate<ReservationReport> isDone) {
        return attempt.reservation().parts().stream().allMatch(part -> isShown(attempt, view, part.device(), isDone));
    }

    private static boolean isShown(
            Attempt attempt, ClusterView view, DeviceId device, Predicate<ReservationReport> isDone) {
        return view.device(device).stream()
                .flatMap(Attempts::shownOn)
                .filter(report ->
                        report.reservation().id().equals(attempt.reservation().id()))
                .anyMatch(isDone);
    }

    /** What the newest report of a device shows. */
    static Stream<ReservationReport> shownOn(DeviceView device) {
        return device.report().stream()
                .flatMap(heard -> heard.message().ledger().reservations().orElse(List.of()).stream());
    }

    private static String layout(Reservation reservation) {
        int ranks = reservation.parts().stream().mapToInt(ReservedPart::ranks).sum();
        List<String> nodes = reservation.parts().stream()
                .map(part -> part.node().value())
                .distinct()
                .toList();
        String more = nodes.size() > MAX_NAMED ? " and %d more".formatted(nodes.size() - MAX_NAMED) : "";
        return "%d rank%s on %d device%s of %s%s"
                .formatted(
                        ranks,
                        ranks == 1 ? "" : "s",
                        reservation.parts().size(),
                        reservation.parts().size() == 1 ? "" : "s",
                        String.join(", ", nodes.subList(0, Math.min(MAX_NAMED, nodes.size()))),
                        more);
    }
}
