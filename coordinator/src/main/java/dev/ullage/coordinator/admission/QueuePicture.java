package dev.ullage.coordinator.admission;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.RequestState.RankPlace;
import dev.ullage.common.protocol.RequestState.Waiting;
import dev.ullage.coordinator.admission.Entry.Stage;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What a queue looks like to people: positions, what is waited for, and when it may be there. Worked out again at most
 * once in {@link #PACE}, because all who wait ask every few seconds. Immutable.
 *
 * @param workedOutAt empty: not yet
 * @param looked those that waited then; of who came since, nothing is known yet
 */
record QueuePicture(
        Optional<Instant> workedOutAt,
        Forecast forecast,
        Optional<KeptDevices> kept,
        Rooms rooms,
        List<String> unknown,
        NavigableSet<JobId> looked) {
    static final QueuePicture NONE =
            new QueuePicture(Optional.empty(), Forecast.NONE, Optional.empty(), Rooms.NONE, List.of(), new TreeSet<>());

    QueuePicture {
        looked = Collections.unmodifiableNavigableSet(new TreeSet<>(looked));
    }

    private static final Duration PACE = Duration.ofSeconds(1);
    /** What all jobs together have of these is said; an answer has to fit into one message. */
    private static final int MAX_RANKS_SHOWN = 4_096;

    /** Whether it is to be worked out again. */
    boolean isDue(Optional<KeptDevices> nowKept, Instant now) {
        boolean isFresh = workedOutAt.filter(at -> at.plus(PACE).isAfter(now)).isPresent();
        return !isFresh || !nowKept.equals(kept);
    }

    QueuePicture renewed(
            List<Entry> queue,
            Offers nowOffers,
            List<RunningGang> running,
            Optional<KeptDevices> nowKept,
            Instant now) {
        return new QueuePicture(
                Optional.of(now),
                Forecast.of(
                        queue.stream().map(Entry::request).toList(),
                        new Timeline(nowOffers.rooms(), running, now),
                        nowKept),
                nowKept,
                nowOffers.rooms(),
                nowOffers.unknown(),
                queue.stream().map(Entry::job).collect(Collectors.toCollection(TreeSet::new)));
    }

    /**
     * The answer to whoever asks.
     *
     * @param entries those that wait in their order, then all others
     */
    List<RequestState> states(List<Entry> entries, Optional<JobId> job, ClusterView view, Duration lease, Instant now) {
        List<RequestState> states = new ArrayList<>();
        int ranksLeft = MAX_RANKS_SHOWN;
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            if (job.filter(wanted -> !wanted.equals(entry.job())).isPresent()) {
                continue;
            }
            List<RankPlace> ranks = entry.is(Stage.PLACED) ? places(entry, view) : List.of();
            List<RankPlace> shown = ranks.size() <= ranksLeft ? ranks : List.of();
            ranksLeft -= shown.size();
            states.add(entry.state(waiting(entry, i + 1, now), shown, notes(entry), lease.toMillis(), now));
        }
        return states;
    }

    private static List<String> notes(Entry entry) {
        List<String> notes = new ArrayList<>(HostTexts.notes(entry.request()));
        entry.note().ifPresent(notes::add);
        if (entry.is(Stage.LOST)) {
            notes.add("it runs, and no ledger keeps anything for it: its ranks have what their limits say");
        }
        return notes;
    }

    private Optional<Waiting> waiting(Entry entry, int position, Instant now) {
        if (entry.is(Stage.PLACING)) {
            return Optional.of(new Waiting(
                    OptionalInt.empty(),
                    "the ledgers of its devices to confirm",
                    OptionalLong.empty(),
                    "this takes one round of messages, or fails within seconds"));
        }
        if (!entry.is(Stage.WAITING)) {
            return Optional.empty();
        }
        Optional<Duration> in = forecast.in(entry.job(), now);
        OptionalLong millis =
                in.isPresent() ? OptionalLong.of(Math.max(0, in.get().toMillis())) : OptionalLong.empty();
        return Optional.of(
                new Waiting(OptionalInt.of(position), waitsFor(entry, position), millis, basis(entry, position, in)));
    }

    private String waitsFor(Entry entry, int position) {
        if (position > Forecast.DEPTH) {
            return Counts.of(position - 1, "job") + " stand before it";
        }
        boolean fits = GangPlacer.fits(entry.request(), rooms);
        if (!fits) {
            return GangTexts.lacks(entry.request(), rooms, unknown);
        }
        return kept.filter(first -> !first.first().equals(entry.job()))
                .map(first -> "room that is kept for job " + first.first() + ", which stands before it")
                .orElse("the next look at the queue");
    }

    private String basis(Entry entry, int position, Optional<Duration> in) {
        if (in.isPresent()) {
            return position == 1
                    ? "the times that the jobs which run there were submitted with"
                    : "the times that the jobs which run and the %d before it were submitted with"
                            .formatted(position - 1);
        }
        if (position > Forecast.DEPTH) {
            return "looked at are the first " + Forecast.DEPTH;
        }
        if (!looked.contains(entry.job())) {
            return "it was not looked at yet";
        }
        boolean isKept = kept.filter(first -> first.first().equals(entry.job())).isPresent();
        return position == 1
                ? "no known end of a job makes room for it"
                        + (isKept ? "; devices are kept for it, and nothing new goes there" : "")
                : "of the jobs before it, or of those that run, it is not known when they end";
    }

    /** Ranks count up part by part. */
    private static List<RankPlace> places(Entry entry, ClusterView view) {
        List<RankPlace> places = new ArrayList<>();
        Map<NodeId, Integer> local = new TreeMap<>();
        for (ReservedPart part : entry.reservation().map(Reservation::parts).orElse(List.of())) {
            OptionalInt index = view.device(part.device()).stream()
                    .mapToInt(device -> device.info().index())
                    .findFirst();
            for (int k = 0; k < part.ranks(); k++) {
                int localRank = local.merge(part.node(), 1, Integer::sum) - 1;
                places.add(new RankPlace(places.size(), part.node(), localRank, part.device(), index, part.perRank()));
            }
        }
        return places;
    }
}
