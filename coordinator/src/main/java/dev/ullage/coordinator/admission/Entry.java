package dev.ullage.coordinator.admission;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.config.QueueSettings;
import dev.ullage.coordinator.planning.balance.QueueOrder;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;

/**
 * One job of the desk. Immutable.
 *
 * @param submitter who asks; empty for a job that was found in the ledgers and that nobody has asked for yet
 * @param submittedAt when it was submitted, or put to the end of the queue
 * @param heardAt when its submitter last said that it still asks
 * @param since when it came to this stage
 * @param reservation what is reserved for it, or is being reserved
 * @param note why it is where it is, when there is something to say
 * @param ranSince since when it has its room and runs; empty: it does not, or another coordinator placed it and nobody
 *     has said how long ago
 */
record Entry(
        JobRequest request,
        Optional<String> submitter,
        Instant submittedAt,
        Instant heardAt,
        Stage stage,
        Instant since,
        Optional<Reservation> reservation,
        Optional<String> note,
        Optional<Instant> ranSince) {
    /** Nobody's clock is believed further back. */
    private static final Duration LONGEST = Duration.ofDays(3650);

    /**
     *
     *
     * <pre>
     *   WAITING --room for all--> PLACING --every part committed--> PLACED
     *      ^ ^                       |                                |
     *      | +------ it failed ------+                                | put to the end of the queue while it runs
     *      +----------------- its launcher has ended ------------- REQUEUED
     *   PLACED --a ledger lost its part--> LOST: it may run, and nothing is kept for it; --found again--> PLACED
     *   WAITING, PLACING --its submitter says that it runs--> LOST: by another coordinator, in room not known here
     *   PLACED --its submitter says that it runs elsewhere--> PLACED there, or LOST
     *   LOST --its launcher has ended, and it still asks--> WAITING
     *   each of them --withdrawn--> CANCELLED, or ENDED when its submitter said that it has: both for as long as its
     *   submitter may still ask
     * </pre>
     */
    enum Stage {
        WAITING,
        PLACING,
        PLACED,
        REQUEUED,
        CANCELLED,
        ENDED,
        LOST;

        Set<Stage> next() {
            return switch (this) {
                case WAITING -> EnumSet.of(WAITING, PLACING, PLACED, LOST, CANCELLED, ENDED);
                case PLACING -> EnumSet.of(PLACED, WAITING, LOST, CANCELLED, ENDED);
                case PLACED -> EnumSet.of(PLACED, REQUEUED, LOST, WAITING, CANCELLED, ENDED);
                case REQUEUED -> EnumSet.of(WAITING, CANCELLED, ENDED);
                case LOST -> EnumSet.of(PLACED, WAITING, CANCELLED, ENDED);
                case CANCELLED, ENDED -> EnumSet.noneOf(Stage.class);
            };
        }

        /** As people and JSON see it. */
        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The fields of one, to be set by name before the next is made of them; lives for as long as that takes. */
    private static final class Copy {
        private JobRequest request;
        private Optional<String> submitter;
        private Instant submittedAt;
        private Instant heardAt;
        private Stage stage;
        private Instant since;
        private Optional<Reservation> reservation;
        private Optional<String> note;
        private Optional<Instant> ranSince;

        Copy(Entry of) {
            request = of.request;
            submitter = of.submitter;
            submittedAt = of.submittedAt;
            heardAt = of.heardAt;
            stage = of.stage;
            since = of.since;
            reservation = of.reservation;
            note = of.note;
            ranSince = of.ranSince;
        }

        Entry entry() {
            return new Entry(request, submitter, submittedAt, heardAt, stage, since, reservation, note, ranSince);
        }
    }

    /** This one with what {@code change} sets. */
    private Entry changed(Consumer<Copy> change) {
        Copy copy = new Copy(this);
        change.accept(copy);
        return copy.entry();
    }

    private static Instant before(Instant now, long millis) {
        return now.minusMillis(Math.max(0, Math.min(millis, LONGEST.toMillis())));
    }

    static Entry submitted(SubmitRequest message, Stage stage, Instant now) {
        return new Entry(
                message.request(),
                Optional.of(message.request().submitter()),
                before(now, message.waitedMillis()),
                now,
                stage,
                now,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** A job that an earlier coordinator placed: of what it asked for, its room tells. */
    static Entry found(Reservation reservation, Instant now) {
        int ranks = reservation.parts().stream().mapToInt(ReservedPart::ranks).sum();
        int most =
                reservation.parts().stream().mapToInt(ReservedPart::ranks).max().orElse(1);
        MemoryBytes each = reservation.parts().stream()
                .map(ReservedPart::perRank)
                .reduce(MemoryBytes.ofMebibytes(1), MemoryBytes::max);
        JobRequest request = new JobRequest(
                reservation.id().job(),
                "unknown",
                reservation.priority(),
                List.of(RankGroup.ofMemory(ranks, each)),
                most,
                JobRequest.Wanted.ANY.with(reservation.host().orElse(HostNeed.NONE)),
                OptionalLong.empty());
        return new Entry(
                request,
                Optional.empty(),
                now,
                now,
                Stage.PLACED,
                now,
                Optional.of(reservation),
                Optional.empty(),
                Optional.empty());
    }

    JobId job() {
        return request.job();
    }

    /** Where it stands in the queue: the lowest is first. */
    double key(QueueSettings settings) {
        return QueueOrder.key(
                submittedAt.toEpochMilli(),
                settings.weight(request.priority()),
                settings.age().toMillis());
    }

    /** As its submitter is to know it. */
    Optional<String> room() {
        return is(Stage.PLACED) ? reservation.map(JobRooms::name) : Optional.empty();
    }

    /** How long it has its room and runs, where that is known. */
    OptionalLong ranMillis(Instant now) {
        return ranSince.isPresent()
                ? OptionalLong.of(
                        Math.max(0, now.toEpochMilli() - ranSince.get().toEpochMilli()))
                : OptionalLong.empty();
    }

    /** Late words of a job that has ended say that it runs, or that it has waited since before it ended. */
    boolean isAskedAnew(SubmitRequest message, Instant now) {
        long endedFor = now.toEpochMilli() - since.toEpochMilli();
        return is(Stage.ENDED) && !message.running() && message.waitedMillis() <= endedFor;
    }

    /** The ledgers have it, and its submitter has not spoken yet. */
    boolean isOnlyFound() {
        return is(Stage.PLACED) && submitter.isEmpty();
    }

    boolean is(Stage other) {
        return stage == other;
    }

    /** It asks for nothing any more. */
    boolean isOver() {
        return is(Stage.CANCELLED) || is(Stage.ENDED);
    }

    Entry heard(Instant now) {
        return changed(copy -> copy.heardAt = now);
    }

    /** What its submitter says now. */
    Entry said(JobRequest newRequest) {
        return changed(copy -> {
            copy.request = newRequest;
            copy.submitter = Optional.of(newRequest.submitter());
        });
    }

    /** It runs since then, unless that is known already: two clocks would make its end come and go. */
    Entry running(Optional<Instant> from) {
        return changed(copy -> copy.ranSince = ranSince.or(() -> from));
    }

    /**
     * What its submitter says of its run: one that does not run yet begins now, in the room that it is told of. How
     * long one has run that another coordinator placed nobody else knows.
     */
    Entry toldOf(SubmitRequest message, Instant now) {
        if (!is(Stage.PLACED) && !is(Stage.LOST)) {
            return this;
        }
        if (!message.running()) {
            return running(Optional.of(now));
        }
        return running(
                message.ranMillis().isPresent()
                        ? Optional.of(before(now, message.ranMillis().getAsLong()))
                        : Optional.empty());
    }

    /** It needs none: one that waits begins now. */
    Entry withoutRoom(Instant now) {
        Optional<Instant> begins = is(Stage.WAITING) ? Optional.of(now) : Optional.empty();
        return to(Stage.PLACED, Optional.empty(), Optional.empty(), now).running(begins);
    }

    /** Its submitter says that it runs in other room than was thought: since when, it says too. */
    Entry elsewhere() {
        return changed(copy -> copy.ranSince = Optional.empty());
    }

    Entry with(Priority priority) {
        return changed(copy -> copy.request = request.withPriority(priority));
    }

    /** The only way to another stage. */
    Entry to(Stage next, Optional<Reservation> newReservation, Optional<String> why, Instant now) {
        if (!stage.next().contains(next)) {
            throw new IllegalStateException(
                    "job %s: %s -> %s is not allowed; allowed: %s".formatted(job(), stage, next, stage.next()));
        }
        boolean mayRun = next == Stage.PLACED || next == Stage.LOST;
        return changed(copy -> {
            copy.stage = next;
            copy.since = now;
            copy.reservation = newReservation;
            copy.note = why;
            copy.ranSince = mayRun ? ranSince : Optional.empty();
        });
    }

    /** The same at the end of the queue. */
    Entry fromNow(Instant now) {
        return changed(copy -> copy.submittedAt = now);
    }

    /**
     * What is reserved for it, with what its ranks ask of their hosts: where no ledger says that, because a worker or
     * the coordinator was older, its submitter does.
     */
    Optional<Reservation> counted() {
        return reservation.map(kept ->
                kept.host().isPresent() ? kept : kept.with(request.wanted().host()));
    }

    /**
     * What it runs on, or is given, if anything; one that is being given it has not begun. Of one that began at another
     * coordinator, who knows when, no end is known: counted from the takeover it would be too late.
     */
    Optional<RunningGang> gang() {
        Optional<Instant> begins = is(Stage.PLACING) ? Optional.of(since.plus(Protocol.PLACED_WITHIN)) : ranSince;
        Optional<Instant> ends = request.runsForMillis().isPresent()
                ? begins.map(begin -> begin.plusMillis(request.runsForMillis().getAsLong()))
                : Optional.empty();
        return counted()
                .map(kept ->
                        RunningGang.of(job(), Claim.of(kept.parts(), kept.host().orElse(HostNeed.NONE)), ends));
    }

    /** Of everything but its place in the queue. */
    RequestState state(
            Optional<RequestState.Waiting> waiting,
            List<RequestState.RankPlace> ranks,
            List<String> notes,
            long leaseMillis,
            Instant now) {
        return new RequestState(
                request,
                stage.label(),
                waiting,
                Math.max(0, now.toEpochMilli() - submittedAt.toEpochMilli()),
                leaseMillis,
                ranks,
                notes);
    }
}
