package dev.ullage.coordinator.admission;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.RequestState;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * One job of the desk. Immutable.
 *
 * @param submitter who asks; empty for a job that was found in the ledgers and that nobody has asked for yet
 * @param submittedAt when it was submitted, or put to the end of the queue
 * @param heardAt when its submitter last said that it still asks
 * @param since when it came to this stage
 * @param reservation what is reserved for it, or is being reserved
 * @param note why it is where it is, when there is something to say
 */
record Entry(
        JobRequest request,
        Optional<String> submitter,
        Instant submittedAt,
        Instant heardAt,
        Stage stage,
        Instant since,
        Optional<Reservation> reservation,
        Optional<String> note) {

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
     *   each of them --withdrawn--> CANCELLED, for as long as its submitter may still ask
     * </pre>
     */
    enum Stage {
        WAITING,
        PLACING,
        PLACED,
        REQUEUED,
        CANCELLED,
        LOST;

        Set<Stage> next() {
            return switch (this) {
                case WAITING -> EnumSet.of(WAITING, PLACING, PLACED, LOST, CANCELLED);
                case PLACING -> EnumSet.of(PLACED, WAITING, LOST, CANCELLED);
                case PLACED -> EnumSet.of(PLACED, REQUEUED, LOST, WAITING, CANCELLED);
                case REQUEUED -> EnumSet.of(WAITING, CANCELLED);
                case LOST -> EnumSet.of(PLACED, WAITING, CANCELLED);
                case CANCELLED -> EnumSet.noneOf(Stage.class);
            };
        }

        /** As people and JSON see it. */
        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static Entry submitted(JobRequest request, Instant submittedAt, Stage stage, Instant now) {
        return new Entry(
                request,
                Optional.of(request.submitter()),
                submittedAt,
                now,
                stage,
                now,
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
                JobRequest.Wanted.ANY,
                OptionalLong.empty());
        return new Entry(
                request, Optional.empty(), now, now, Stage.PLACED, now, Optional.of(reservation), Optional.empty());
    }

    JobId job() {
        return request.job();
    }

    /** As its submitter is to know it. */
    Optional<String> room() {
        return is(Stage.PLACED) ? reservation.map(JobRooms::name) : Optional.empty();
    }

    boolean is(Stage other) {
        return stage == other;
    }

    Entry heard(Instant now) {
        return new Entry(request, submitter, submittedAt, now, stage, since, reservation, note);
    }

    /** What its submitter says now. */
    Entry said(JobRequest newRequest) {
        return new Entry(
                newRequest, Optional.of(newRequest.submitter()), submittedAt, heardAt, stage, since, reservation, note);
    }

    Entry with(Priority priority) {
        return new Entry(
                request.withPriority(priority), submitter, submittedAt, heardAt, stage, since, reservation, note);
    }

    /** The only way to another stage. */
    Entry to(Stage next, Optional<Reservation> newReservation, Optional<String> why, Instant now) {
        if (!stage.next().contains(next)) {
            throw new IllegalStateException(
                    "job %s: %s -> %s is not allowed; allowed: %s".formatted(job(), stage, next, stage.next()));
        }
        return new Entry(request, submitter, submittedAt, heardAt, next, now, newReservation, why);
    }

    /** The same at the end of the queue. */
    Entry fromNow(Instant now) {
        return new Entry(request, submitter, now, heardAt, stage, since, reservation, note);
    }

    /** What it runs on, or is given, if anything; one that is being given it has not begun. */
    Optional<RunningGang> gang() {
        Instant begins = is(Stage.PLACING) ? since.plus(Protocol.PLACED_WITHIN) : since;
        return reservation.map(kept -> RunningGang.of(
                job(),
                kept.parts(),
                since,
                request.runsForMillis().isPresent()
                        ? Optional.of(begins.plusMillis(request.runsForMillis().getAsLong()))
                        : Optional.empty()));
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
