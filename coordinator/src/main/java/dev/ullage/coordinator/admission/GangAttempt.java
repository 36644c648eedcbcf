package dev.ullage.coordinator.admission;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.coordinator.admission.GangPart.Stage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * One attempt to get room for all ranks of a job, on all of its devices or on none. Pure and immutable; soft state of
 * the coordinator that made it, which forgets it when it loses its leadership.
 *
 * <pre>
 *   RESERVING --every part reserved--> COMMITTING --every part committed--> PLACED
 *       |                                  |                                  |
 *       +-- a refusal, the deadline, or told to --+                           +-- told to, or a part is lost
 *                                          v                                  v
 *                                      RELEASING --no report shows any part--> ENDED
 * </pre>
 *
 * Use: {@link #start}, then for every report and refusal of its devices {@link #onReport} and {@link #onRefused}, and
 * on every tick {@link #turn}, whose sends go to the workers. What is asked is asked again until a report shows it.
 * Only once {@link #isPlaced} may anybody be told that the job has its room. Reports count that carry the token of the
 * coordinator that asks; keep others from it.
 *
 * <p>A report may be older than what it seems to answer, so one that leaves a part out proves nothing by itself: before
 * {@code PLACED} it is ignored (an expired part refuses its commit), at {@code PLACED} the part must stay away for
 * {@value #LOST_AFTER_SECONDS} s. A message that arrives after the attempt has ended may make a part anew;
 * {@link GangRecovery} finds it.
 */
public final class GangAttempt {
    private static final int LOST_AFTER_SECONDS = 5;
    private static final Duration LOST_AFTER = Duration.ofSeconds(LOST_AFTER_SECONDS);

    /** Where an attempt stands. */
    public enum State {
        RESERVING,
        COMMITTING,
        PLACED,
        RELEASING,
        ENDED
    }

    /** What a worker is to be told about a part. */
    public enum Step {
        RESERVE,
        COMMIT,
        RELEASE
    }

    /** Tell the worker of {@code node} to do {@code step} with {@code reservation} on {@code device}. */
    public record Send(Step step, NodeId node, DeviceId device, Reservation reservation) {}

    /** The attempt after a tick, and what is to be sent. */
    public record Turn(GangAttempt attempt, List<Send> sends) {
        public Turn {
            sends = List.copyOf(sends);
        }
    }

    private final Reservation reservation;
    private final State state;
    private final Instant startedAt;
    private final String reason;
    private final List<GangPart> parts;

    private GangAttempt(Reservation reservation, State state, Instant startedAt, String reason, List<GangPart> parts) {
        this.reservation = reservation;
        this.state = state;
        this.startedAt = startedAt;
        this.reason = reason;
        this.parts = List.copyOf(parts);
    }

    /** An attempt of which no device knows yet. */
    public static GangAttempt start(Reservation reservation, Instant now) {
        return new GangAttempt(reservation, State.RESERVING, now, "", parts(reservation, Stage.UNKNOWN));
    }

    /** Another coordinator's that reports show whole: its job may be running. */
    static GangAttempt placed(Reservation reservation, Instant now) {
        return new GangAttempt(reservation, State.PLACED, now, "", parts(reservation, Stage.COMMITTED));
    }

    /** One that is to be given back, whoever made it. */
    static GangAttempt releasing(Reservation reservation, String reason, Instant now) {
        return new GangAttempt(reservation, State.RELEASING, now, reason, parts(reservation, Stage.UNKNOWN));
    }

    private static List<GangPart> parts(Reservation reservation, Stage stage) {
        return reservation.parts().stream()
                .map(part -> GangPart.of(part, stage))
                .toList();
    }

    /** What a report says of its device: whether it shows the reservation, and how far. */
    public GangAttempt onReport(DeviceReservations report, Instant now) {
        Optional<ReservationReport> shown = report.find(reservation.id());
        GangAttempt heard = changing(report.device(), part -> afterReport(part, shown, now));
        if (heard.state == State.RESERVING && heard.all(Stage.RESERVED)) {
            return heard.in(State.COMMITTING).changing(GangPart::untold);
        }
        if (heard.state == State.COMMITTING && heard.all(Stage.COMMITTED)) {
            return heard.in(State.PLACED);
        }
        if (heard.state == State.RELEASING && heard.all(Stage.GONE)) {
            return heard.in(State.ENDED);
        }
        return heard.parts.stream()
                .filter(part -> heard.state == State.PLACED && part.isMissingFor(LOST_AFTER, now))
                .findFirst()
                .map(part ->
                        heard.release(part.device() + " of " + part.part().node() + " no longer has its part", now))
                .orElse(heard);
    }

    private GangPart afterReport(GangPart part, Optional<ReservationReport> shown, Instant now) {
        boolean isCommitted = shown.filter(ReservationReport::committed).isPresent();
        return switch (state) {
            case RESERVING -> shown.isPresent() ? part.at(Stage.RESERVED) : part;
            case COMMITTING -> isCommitted ? part.at(Stage.COMMITTED) : part;
            case PLACED -> shown.isPresent() ? part.at(Stage.COMMITTED) : part.missing(now);
            case RELEASING -> afterReportOfReleased(part, shown.isPresent());
            case ENDED -> part;
        };
    }

    /** A report from before the release was sent may be from before the reservation came, too. */
    private static GangPart afterReportOfReleased(GangPart part, boolean isShown) {
        if (isShown) {
            return part.at(Stage.UNKNOWN);
        }
        return part.sentAt().isPresent() ? part.at(Stage.GONE) : part;
    }

    /**
     * A device did not do what it was asked: none of it is to be kept. A late answer to what is over changes nothing.
     */
    public GangAttempt onRefused(DeviceId device, String why, Instant now) {
        boolean isOpen = state == State.RESERVING || state == State.COMMITTING;
        return isOpen && reservation.part(device).isPresent() ? release(why, now) : this;
    }

    /** Gives all of it back: the request was withdrawn, the job is over, or a device of it is lost. */
    public GangAttempt release(String why, Instant now) {
        if (state == State.RELEASING || state == State.ENDED) {
            return this;
        }
        List<GangPart> unknown =
                parts.stream().map(part -> part.at(Stage.UNKNOWN).untold()).toList();
        return new GangAttempt(reservation, State.RELEASING, now, why, unknown);
    }

    /**
     * Waits no longer for the parts of devices that are not known any more: should one come back, {@link GangRecovery}
     * finds what it still holds.
     */
    public GangAttempt forgetting(Predicate<DeviceId> isKnown) {
        if (state != State.RELEASING) {
            return this;
        }
        GangAttempt rest = changing(part -> isKnown.test(part.device()) ? part : part.at(Stage.GONE));
        return rest.all(Stage.GONE) ? rest.in(State.ENDED) : rest;
    }

    /**
     * What is due.
     *
     * @param resendAfter how long a message may stay without effect before it is sent again
     */
    public Turn turn(Instant now, Duration resendAfter) {
        GangAttempt due = afterDeadline(now);
        List<Send> sends = new ArrayList<>();
        GangAttempt sent = due.changing(part -> {
            Optional<Step> step = due.step(part).filter(one -> part.isDue(now, resendAfter));
            step.ifPresent(one -> sends.add(new Send(one, part.part().node(), part.device(), reservation)));
            return step.isPresent() ? part.told(now) : part;
        });
        return new Turn(sent, sends);
    }

    private GangAttempt afterDeadline(Instant now) {
        boolean isOpen = state == State.RESERVING || state == State.COMMITTING;
        if (!isOpen || now.isBefore(startedAt.plus(Protocol.PLACED_WITHIN))) {
            return this;
        }
        String late = waitingFor().stream()
                .map(part -> part.device() + " of " + part.node())
                .collect(Collectors.joining(", "));
        return release("not placed within " + Protocol.PLACED_WITHIN.toSeconds() + " s: no answer of " + late, now);
    }

    private Optional<Step> step(GangPart part) {
        return switch (state) {
            case RESERVING -> part.is(Stage.UNKNOWN) ? Optional.of(Step.RESERVE) : Optional.empty();
            case COMMITTING -> part.is(Stage.COMMITTED) ? Optional.empty() : Optional.of(Step.COMMIT);
            case RELEASING -> part.is(Stage.GONE) ? Optional.empty() : Optional.of(Step.RELEASE);
            case PLACED, ENDED -> Optional.empty();
        };
    }

    /** The parts that are not yet where the attempt wants them. */
    public List<ReservedPart> waitingFor() {
        return parts.stream()
                .filter(part -> step(part).isPresent())
                .map(GangPart::part)
                .toList();
    }

    public Reservation reservation() {
        return reservation;
    }

    public State state() {
        return state;
    }

    /** Whether every part is committed: the job has its room. */
    public boolean isPlaced() {
        return state == State.PLACED;
    }

    /** Since when it has been in progress, placed, or being released. */
    public Instant since() {
        return startedAt;
    }

    /** Why it is or was given back; empty before. */
    public Optional<String> reason() {
        return Optional.of(reason).filter(why -> !why.isEmpty());
    }

    private boolean all(Stage stage) {
        return parts.stream().allMatch(part -> part.is(stage));
    }

    private GangAttempt in(State next) {
        return new GangAttempt(reservation, next, startedAt, reason, parts);
    }

    private GangAttempt changing(UnaryOperator<GangPart> change) {
        return new GangAttempt(
                reservation,
                state,
                startedAt,
                reason,
                parts.stream().map(change).toList());
    }

    private GangAttempt changing(DeviceId device, UnaryOperator<GangPart> change) {
        return changing(part -> part.device().equals(device) ? change.apply(part) : part);
    }

    @Override
    public String toString() {
        return reservation.id() + " " + state + " " + parts + (reason.isEmpty() ? "" : ": " + reason);
    }
}
