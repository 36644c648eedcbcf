package dev.ullage.coordinator.admission;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.common.protocol.ToCoordinator.ReservationRefused;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.QueueFigures;
import dev.ullage.common.protocol.ToOperator.RequestRefused;
import dev.ullage.common.protocol.ToOperator.Requests;
import dev.ullage.config.Durations;
import dev.ullage.config.QueueSettings;
import dev.ullage.coordinator.admission.Attempts.Outcome;
import dev.ullage.coordinator.admission.Entry.Stage;
import dev.ullage.coordinator.admission.GangAttempt.Send;
import dev.ullage.coordinator.events.Change;
import dev.ullage.coordinator.events.EventKind;
import dev.ullage.coordinator.planning.KeptRoom.WantedRoom;
import dev.ullage.coordinator.planning.balance.QueueOrder;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The requests of a coordinator: who waits in which order, who is given room, and who has it. Decides, and changes
 * nothing outside of itself; one owner, not thread safe.
 *
 * <p>All of it is soft. Who submitted says the request again every few seconds, which renews its lease and tells a new
 * coordinator of it; what was placed stands in the ledgers.
 */
public final class AdmissionDesk {
    /** A job that could not be placed is not tried again at once: what refused it may report first. */
    private static final Duration PAUSE = Duration.ofSeconds(2);

    private static final int MAX_NAMED = 4;
    /** How many of the last requests are remembered. */
    private static final int USUAL = 64;

    private static final Duration LONGEST_WAIT = Duration.ofDays(3650);

    private final QueueSettings settings;
    private final Attempts attempts = new Attempts();
    private final AdmissionCounts counts = new AdmissionCounts();
    private final NavigableMap<JobId, Entry> entries = new TreeMap<>();
    /** What an operator chose, until its submitter says the same. */
    private final NavigableMap<JobId, Priority> chosen = new TreeMap<>();
    /** When a job that could not be placed is tried again. */
    private final NavigableMap<JobId, Instant> pauses = new TreeMap<>();
    /** What came last, for the policies that keep room for what usually comes. */
    private final Deque<JobRequest> usual = new ArrayDeque<>();

    private List<Change> changes = new ArrayList<>();
    private Optional<KeptDevices> kept = Optional.empty();
    private RoomWish wish = RoomWish.NONE;
    private QueuePicture picture = QueuePicture.NONE;
    private Optional<Instant> activeSince = Optional.empty();
    private long attemptNumber;

    public AdmissionDesk(QueueSettings settings) {
        this.settings = settings;
    }

    /**
     * What is known of the cluster when something is decided.
     *
     * @param token of the coordinator, an active one
     * @param draining nodes that take nothing new
     * @param lower what jobs of lower priority could make room for
     */
    public record Cluster(ClusterView view, CoordinatorToken token, Set<NodeId> draining, RoomWish.Lower lower) {}

    /** What is to be done: messages to workers, and what happened, for the log of events. */
    public record Turn(List<Send> sends, List<Change> changes) {
        public Turn {
            sends = List.copyOf(sends);
            changes = List.copyOf(changes);
        }
    }

    /** A ledger does not keep a job's part. */
    public void refused(ReservationRefused refused, Instant now) {
        String why = "%s of %s: %s".formatted(refused.device(), refused.node(), refused.reason());
        attempts.refused(refused.id(), refused.device(), why, now).forEach(outcome -> settle(outcome, now));
    }

    /** Takes a request, or hears of it again. */
    public ToOperator submit(SubmitRequest message, Cluster cluster, Instant now) {
        JobRequest request = message.request();
        Optional<Entry> known = entry(request.job());
        boolean isAnothers = known.flatMap(Entry::submitter)
                .filter(submitter -> !submitter.equals(request.submitter()))
                .isPresent();
        if (isAnothers && !known.orElseThrow().is(Stage.CANCELLED)) {
            return new RequestRefused(List.of("job " + request.job() + " was submitted by another, and is "
                    + known.orElseThrow().stage().label() + ": choose another name, or cancel it"));
        }
        Optional<Entry> live = isAnothers ? Optional.empty() : known;
        List<String> refusals = refusals(request, live, cluster);
        if (!refusals.isEmpty()) {
            return new RequestRefused(refusals);
        }
        Entry entry = live.map(before -> heardAgain(before, message, now)).orElseGet(() -> taken(message, now));
        entries.put(entry.job(), entry);
        return requests(Optional.of(entry.job()), cluster, now);
    }

    private List<String> refusals(JobRequest request, Optional<Entry> known, Cluster cluster) {
        List<String> reasons = new ArrayList<>();
        boolean isNew = known.isEmpty();
        long waiting = entries.values().stream()
                .filter(entry -> !entry.is(Stage.CANCELLED))
                .count();
        if (isNew && waiting >= settings.maxRequests()) {
            reasons.add(
                    "there are %d requests, the most that this cluster takes (ullage.coordinator.queue.max-requests)"
                            .formatted(waiting));
        }
        request.contradiction().ifPresent(reasons::add);
        known.filter(entry -> entry.submitter().isEmpty())
                .filter(entry -> entry.request().ranks() != request.ranks())
                .ifPresent(entry -> reasons.add("job %s runs with %d ranks, and is not the one that asks for %d"
                        .formatted(request.job(), entry.request().ranks(), request.ranks())));
        boolean isToBePlaced = isNew || known.get().is(Stage.WAITING);
        boolean isOther = isNew || !known.get().request().isPlacedLike(request);
        if (isToBePlaced && isOther) {
            GangTexts.whyNever(request, Offers.of(cluster.view(), cluster.draining(), List.of()))
                    .ifPresent(why -> reasons.add("this can never fit: " + why));
        }
        return reasons;
    }

    private Entry taken(SubmitRequest message, Instant now) {
        Duration waited = Duration.ofMillis(Math.max(0, message.waitedMillis()));
        Instant submittedAt = now.minus(waited.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : waited);
        Stage stage = message.running() ? Stage.LOST : Stage.WAITING;
        JobRequest request = message.request();
        if (request.groups().isEmpty()) {
            return Entry.submitted(request, submittedAt, Stage.PLACED, now);
        }
        if (stage == Stage.WAITING && waited.isZero()) {
            note(EventKind.JOB_SUBMITTED, request.job(), "waits for room: " + request.text());
        }
        return Entry.submitted(request, submittedAt, stage, now);
    }

    private Entry heardAgain(Entry before, SubmitRequest message, Instant now) {
        Entry heard = before.heard(now);
        if (heard.is(Stage.CANCELLED)) {
            return heard;
        }
        JobRequest said = message.request();
        if (said.priority() == chosen.get(said.job())) {
            chosen.remove(said.job());
        }
        JobRequest request = said.withPriority(chosen.getOrDefault(said.job(), said.priority()));
        boolean isToBePlaced = heard.is(Stage.WAITING) || before.submitter().isEmpty();
        boolean isSame = heard.request().isPlacedLike(request);
        Entry with = isToBePlaced || isSame ? heard.said(request) : heard;
        boolean hasEnded = (with.is(Stage.REQUEUED) || with.is(Stage.LOST)) && !message.running();
        return hasEnded ? with.to(Stage.WAITING, Optional.empty(), with.note(), now) : with;
    }

    /** Where requests stand: one, or all. */
    public Requests requests(Optional<JobId> job, Cluster cluster, Instant now) {
        List<Entry> queue = queue();
        List<Entry> all = new ArrayList<>(queue);
        entries.values().stream().filter(entry -> !entry.is(Stage.WAITING)).forEach(all::add);
        return new Requests(picture.states(all, job, cluster.view(), settings.lease(), now));
    }

    /** A job is to ask no longer, and to end if it runs. */
    public ToOperator cancel(JobId job, boolean hasEnded, Instant now) {
        Optional<Entry> known = entry(job).filter(entry -> !entry.is(Stage.CANCELLED));
        if (known.isEmpty()) {
            return unknown(job);
        }
        Entry entry = known.get();
        withdraw(entry, hasEnded ? "it has ended" : "it was cancelled", now);
        return new Accepted(
                "job " + job + " was " + entry.stage().label() + (hasEnded ? " and has ended" : " and is cancelled")
                        + (entry.reservation().isPresent() ? "; its room is being released" : ""));
    }

    private void withdraw(Entry entry, String why, Instant now) {
        entry.reservation().ifPresent(reservation -> attempts.release(reservation.id(), why, now));
        entries.put(entry.job(), entry.to(Stage.CANCELLED, Optional.empty(), Optional.of(why), now));
        note(
                EventKind.JOB_WITHDRAWN,
                entry.job(),
                "is no longer " + entry.stage().label() + ": " + why);
    }

    /** A job goes to the end of the queue; one that runs is to end first. */
    public ToOperator requeue(JobId job, Instant now) {
        Optional<Entry> known = entry(job).filter(entry -> !entry.is(Stage.CANCELLED));
        if (known.isEmpty()) {
            return unknown(job);
        }
        Entry entry = known.get();
        if (entry.is(Stage.LOST) || entry.is(Stage.REQUEUED)) {
            return new RequestRefused(
                    List.of("job " + job + " is " + entry.stage().label() + ": it waits again once it has ended"));
        }
        Optional<String> why = Optional.of("it was put to the end of the queue");
        boolean hasRoom = entry.is(Stage.PLACED) && entry.reservation().isPresent();
        entry.reservation().ifPresent(reservation -> attempts.release(reservation.id(), why.get(), now));
        Entry last = entry.fromNow(now).to(hasRoom ? Stage.REQUEUED : Stage.WAITING, Optional.empty(), why, now);
        entries.put(job, last);
        note(
                EventKind.JOB_REQUEUED,
                job,
                "was put to the end of the queue, and was " + entry.stage().label());
        return new Accepted("job " + job + " is at the end of the queue"
                + (hasRoom ? "; its room is being released, and what runs is told to end" : ""));
    }

    /**
     * A job matters more, or less, than it said. Holds until its submitter says another.
     *
     * @param priority empty: what its submitter says, from when it says it again
     * @return what changes; empty when no request of the job is known
     */
    public Optional<String> setPriority(JobId job, Optional<Priority> priority) {
        Optional<Entry> known = entry(job).filter(entry -> !entry.is(Stage.CANCELLED));
        known.ifPresent(entry -> {
            chosen.remove(job);
            priority.ifPresent(wanted -> {
                chosen.put(job, wanted);
                entries.put(job, entry.with(wanted));
            });
        });
        return known.map(entry -> "priority of job %s in the queue: %s -> %s"
                .formatted(
                        job,
                        entry.request().priority(),
                        priority.map(Priority::toString).orElse("as its submitter says")));
    }

    private static ToOperator unknown(JobId job) {
        return new RequestRefused(List.of("no request of job " + job + " is known"));
    }

    private Optional<Entry> entry(JobId job) {
        return Optional.ofNullable(entries.get(job));
    }

    /** Those that wait, the first first. */
    private List<Entry> queue() {
        return entries.values().stream()
                .filter(entry -> entry.is(Stage.WAITING))
                .sorted(Comparator.comparingDouble(this::key).thenComparing(Entry::job))
                .toList();
    }

    private double key(Entry entry) {
        return QueueOrder.key(
                entry.submittedAt().toEpochMilli(),
                settings.weight(entry.request().priority()),
                settings.age().toMillis());
    }

    /** For whoever measures it. */
    public QueueFigures figures() {
        return counts.figures(entries.values());
    }

    /** A job that an earlier coordinator placed, as the ledgers have it. */
    private void found(Reservation reservation, Instant now) {
        JobId job = reservation.id().job();
        Optional<Entry> known = entry(job);
        boolean hasNoRoom = known.map(entry -> entry.is(Stage.LOST) || entry.is(Stage.WAITING))
                .orElse(true);
        if (!hasNoRoom) {
            attempts.release(reservation.id(), "its job has other room, or is over", now);
            return;
        }
        entries.put(
                job,
                known.map(entry -> entry.to(Stage.PLACED, Optional.of(reservation), Optional.empty(), now))
                        .orElseGet(() -> Entry.found(reservation, now)));
    }

    /** Another coordinator decides now: what is known here counts for nothing. */
    public void forget() {
        entries.clear();
        chosen.clear();
        pauses.clear();
        kept = Optional.empty();
        wish = RoomWish.NONE;
        picture = QueuePicture.NONE;
        activeSince = Optional.empty();
        attempts.forget();
    }

    /** Looks after leases and attempts, and places whoever can be placed. */
    public Turn tick(Cluster cluster, Instant now) {
        activeSince = activeSince.or(() -> Optional.of(now));
        expire(cluster.view(), now);
        List<Outcome> outcomes = new ArrayList<>(attempts.read(cluster.view(), cluster.token(), now));
        outcomes.forEach(outcome -> settle(outcome, now));
        if (isSettled(cluster.token(), now)) {
            admit(cluster, now);
        }
        List<Outcome> late = new ArrayList<>();
        List<Send> sends = attempts.sends(cluster.view(), late, now);
        late.forEach(outcome -> settle(outcome, now));
        ask(cluster);
        picture = picture.isDue(kept, now)
                ? picture.renewed(queue(), offers(cluster), gangs(cluster.view(), now), kept, now)
                : picture;
        Turn result = new Turn(sends, changes);
        changes = new ArrayList<>();
        return result;
    }

    /** The first coordinator of a cluster has nobody's queue to wait for. */
    private boolean isSettled(CoordinatorToken token, Instant now) {
        Instant since = activeSince.orElse(now);
        return token.epoch() == 1 || !since.plus(settings.settleFor()).isAfter(now);
    }

    private void expire(ClusterView view, Instant now) {
        for (Entry entry : List.copyOf(entries.values())) {
            boolean isSilent = entry.heardAt().plus(settings.lease()).isBefore(now);
            boolean isIdle = entry.heardAt().plus(settings.idleFor()).isBefore(now)
                    && !view.jobs().contains(entry.job());
            if (entry.is(Stage.CANCELLED) && isSilent) {
                entries.remove(entry.job());
            } else if (entry.is(Stage.PLACED) ? isSilent && isIdle : isSilent) {
                withdraw(entry, "nothing was heard of its submitter for " + Durations.show(settings.lease()), now);
                entries.remove(entry.job());
            }
        }
        chosen.keySet().retainAll(entries.keySet());
        pauses.keySet().retainAll(entries.keySet());
    }

    private void settle(Outcome outcome, Instant now) {
        Reservation reservation = outcome.reservation();
        JobId job = reservation.id().job();
        if (outcome instanceof Outcome.Found) {
            found(reservation, now);
            return;
        }
        Optional<Entry> entry = entry(job).filter(known -> known.reservation().equals(Optional.of(reservation)));
        if (entry.isPresent() && outcome instanceof Outcome.Placed) {
            Duration waited = Duration.between(entry.get().submittedAt(), now);
            counts.placed(waited);
            entries.put(job, entry.get().to(Stage.PLACED, Optional.of(reservation), Optional.empty(), now));
            note(EventKind.JOB_PLACED, job, "has its room after " + seconds(waited) + ": " + layout(reservation));
        }
        if (entry.isPresent() && outcome instanceof Outcome.Failed failed) {
            failed(entry.get(), failed.reason(), now);
        }
    }

    private void failed(Entry entry, String reason, Instant now) {
        counts.failed();
        boolean wasPlaced = entry.is(Stage.PLACED);
        Stage next = wasPlaced ? Stage.LOST : Stage.WAITING;
        String what = wasPlaced ? "lost its room: " : "could not be placed and waits again: ";
        entries.put(entry.job(), entry.to(next, Optional.empty(), Optional.of(what + reason), now));
        pauses.put(entry.job(), now.plus(PAUSE));
        About about = new About(Optional.empty(), Optional.empty(), Optional.of(entry.job()), OptionalInt.empty());
        changes.add(Change.warning(EventKind.PLACEMENT_FAILED, about, "job " + entry.job() + " " + what + reason));
    }

    private static String layout(Reservation reservation) {
        int ranks = reservation.parts().stream().mapToInt(ReservedPart::ranks).sum();
        List<String> nodes = reservation.parts().stream()
                .map(part -> part.node().value())
                .distinct()
                .toList();
        String more = nodes.size() > MAX_NAMED ? " and %d more".formatted(nodes.size() - MAX_NAMED) : "";
        return "ranks %d, devices %d, on %s%s"
                .formatted(
                        ranks,
                        reservation.parts().size(),
                        String.join(", ", nodes.subList(0, Math.min(MAX_NAMED, nodes.size()))),
                        more);
    }

    private static String seconds(Duration duration) {
        return duration.toMillis() / 1000 + "." + duration.toMillis() % 1000 / 100 + " s";
    }

    /** To look at all devices takes a while: for nobody it is not done. */
    private Offers offers(Cluster cluster) {
        return Offers.of(cluster.view(), cluster.draining(), attempts.kept());
    }

    private void admit(Cluster cluster, Instant now) {
        List<Entry> queue = queue();
        if (queue.isEmpty()) {
            kept = Optional.empty();
            return;
        }
        Timeline timeline = new Timeline(offers(cluster).devices(), gangs(cluster.view(), now), now);
        Admission admission = new Admission(timeline, kept, List.copyOf(usual));
        for (Entry entry : queue) {
            boolean mayStart = !pauses.getOrDefault(entry.job(), now).isAfter(now);
            admission.consider(entry.request(), mayStart).ifPresent(parts -> begin(entry, parts, cluster.token(), now));
        }
        kept = admission.kept();
    }

    /** The first that waits in vain may ask jobs of lower priority for room; both sides are told. */
    private void ask(Cluster cluster) {
        RoomWish before = wish;
        wish = kept.map(KeptDevices::first)
                .flatMap(this::entry)
                .filter(entry -> entry.is(Stage.WAITING))
                .map(entry -> RoomWish.of(entry.request(), offers(cluster).devices(), cluster.lower(), before))
                .orElse(RoomWish.NONE);
        if (wish.wanted().isEmpty() || wish.wanted().equals(before.wanted())) {
            return;
        }
        WantedRoom room = wish.wanted().firstEntry().getValue();
        String asked = wish.asked().stream().map(JobId::value).collect(Collectors.joining(", "));
        String what = "waits for room (priority %s): of lower priority, and asked to give up what they do not hold: %s"
                .formatted(room.priority(), asked);
        note(EventKind.ROOM_ASKED, room.job(), what);
        for (JobId job : wish.asked()) {
            note(EventKind.ROOM_ASKED, job, "is asked to give up what it does not hold, for job " + room.job());
        }
    }

    /** What plans should make jobs of lower priority give up. */
    public NavigableMap<DeviceId, WantedRoom> wantedRoom() {
        return wish.wanted();
    }

    private void begin(Entry entry, List<ReservedPart> parts, CoordinatorToken token, Instant now) {
        attemptNumber++;
        Reservation reservation = new Reservation(
                new ReservationId(entry.job(), token, attemptNumber),
                entry.request().priority(),
                parts);
        pauses.remove(entry.job());
        remember(entry.request());
        attempts.begin(reservation, now);
        entries.put(entry.job(), entry.to(Stage.PLACING, Optional.of(reservation), Optional.empty(), now));
    }

    private void remember(JobRequest request) {
        usual.addLast(request);
        if (usual.size() > USUAL) {
            usual.removeFirst();
        }
    }

    /** Who has room, or is being given it, or gives it back. */
    private List<RunningGang> gangs(ClusterView view, Instant now) {
        List<RunningGang> gangs = new ArrayList<>(attempts.leaving(view, now));
        entries.values().forEach(entry -> entry.gang().ifPresent(gangs::add));
        return gangs;
    }

    private void note(EventKind kind, JobId job, String text) {
        About about = new About(Optional.empty(), Optional.empty(), Optional.of(job), OptionalInt.empty());
        changes.add(Change.info(kind, about, "job " + job + " " + text));
    }
}
