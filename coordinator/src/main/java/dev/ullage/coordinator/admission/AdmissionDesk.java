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
import dev.ullage.common.protocol.RequestState;
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
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

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

    /** How many of the last requests are remembered. */
    private static final int USUAL = 64;

    /** Who has waited for less has just come: until its request is here a submitter's own clock goes on. */
    private static final Duration NEW_FOR = Duration.ofSeconds(2);

    private final QueueSettings settings;
    private final Attempts attempts = new Attempts();
    private final JobRooms rooms = new JobRooms();
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
        if (isAnothers && !known.orElseThrow().isOver()) {
            return new RequestRefused(List.of("job " + request.job() + " was submitted by another, and is "
                    + known.orElseThrow().stage().label() + ": choose another name, or cancel it"));
        }
        boolean isAnew = known.filter(entry -> entry.isAskedAnew(message, now)).isPresent();
        Optional<Entry> live = isAnothers || isAnew ? Optional.empty() : known;
        List<String> refusals = Refusals.of(message, live, entries.values(), settings.maxRequests(), cluster);
        if (!refusals.isEmpty()) {
            return new RequestRefused(refusals);
        }
        Entry entry = live.map(before -> heardAgain(inItsRoom(before, message, now), message, now))
                .orElseGet(() -> taken(message, now));
        entries.put(entry.job(), entry);
        return requests(Optional.of(entry.job()), cluster, now);
    }

    private Entry taken(SubmitRequest message, Instant now) {
        Stage stage = message.running() ? Stage.LOST : Stage.WAITING;
        if (message.running()) {
            rooms.choose(message, Optional.empty());
        }
        JobRequest request = message.request();
        if (stage == Stage.WAITING && message.waitedMillis() < NEW_FOR.toMillis() && request.ranks() > 0) {
            note(EventKind.JOB_SUBMITTED, request.job(), "waits for room: " + request.text());
        }
        return atOnce(Entry.submitted(message, stage, now).toldOf(message, now), now);
    }

    /** Zero ranks are given no device, and wait for none. */
    private static Entry atOnce(Entry entry, Instant now) {
        boolean needsNone = entry.request().ranks() == 0 && (entry.is(Stage.WAITING) || entry.is(Stage.LOST));
        return needsNone ? entry.withoutRoom(now) : entry;
    }

    private Entry heardAgain(Entry before, SubmitRequest message, Instant now) {
        Entry heard = before.heard(now);
        if (heard.isOver()) {
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
        Entry told = hasEnded ? with.to(Stage.WAITING, Optional.empty(), with.note(), now) : with;
        return atOnce(told.toldOf(message, now), now);
    }

    /**
     * Where a job runs its submitter knows: another coordinator may have told it, and of other room than is kept here.
     */
    private Entry inItsRoom(Entry entry, SubmitRequest message, Instant now) {
        if (entry.isOver() || entry.is(Stage.REQUEUED) || entry.request().ranks() == 0) {
            return entry;
        }
        if (!message.running()) {
            giveBack(rooms.waits(entry.job()), now);
            return entry;
        }
        Optional<Reservation> has = entry.is(Stage.PLACED) ? entry.reservation() : Optional.empty();
        JobRooms.Choice choice = rooms.choose(message, has);
        giveBack(choice.others(), now);
        if (entry.is(Stage.PLACING)) {
            giveBack(entry.reservation().stream().toList(), now);
        }
        Optional<Reservation> its = choice.its().filter(attempts::isPlaced);
        boolean isAsItWas = its.isPresent() ? its.equals(has) : entry.is(Stage.LOST);
        Entry from = entry.is(Stage.PLACED) ? entry.elsewhere() : entry;
        Entry moved =
                isAsItWas ? entry : from.to(its.isPresent() ? Stage.PLACED : Stage.LOST, its, Optional.empty(), now);
        entries.put(moved.job(), moved);
        return moved;
    }

    private void giveBack(List<Reservation> others, Instant now) {
        others.forEach(one -> attempts.release(one.id(), "its job has other room", now));
    }

    /** Where requests stand: one, or all. */
    public Requests requests(Optional<JobId> job, Cluster cluster, Instant now) {
        List<Entry> all = new ArrayList<>(queue());
        entries.values().stream().filter(entry -> !entry.is(Stage.WAITING)).forEach(all::add);
        Optional<Entry> one = job.flatMap(this::entry);
        OptionalLong ran = one.map(entry -> entry.ranMillis(now)).orElse(OptionalLong.empty());
        List<RequestState> states = picture.states(all, job, cluster.view(), settings.lease(), now);
        return new Requests(states, Optional.empty(), one.flatMap(Entry::room), ran);
    }

    /** So many of those that wait and of those that are on their way somewhere; of the others only how many. */
    public Requests firstRequests(int most, Cluster cluster, Instant now) {
        List<Entry> shown = new ArrayList<>(queue().stream().limit(most).toList());
        entries.values().stream()
                .filter(entry -> entry.is(Stage.PLACING) || entry.is(Stage.REQUEUED) || entry.is(Stage.LOST))
                .limit(most)
                .forEach(shown::add);
        return new Requests(
                picture.states(shown, Optional.empty(), cluster.view(), settings.lease(), now),
                Optional.of(AdmissionCounts.in(entries.values())),
                Optional.empty());
    }

    /** A job is to ask no longer, and to end if it runs. */
    public ToOperator cancel(JobId job, boolean hasEnded, Instant now) {
        Optional<Entry> known = entry(job).filter(entry -> !entry.isOver());
        if (known.isEmpty()) {
            return Refusals.noneOf(job, entries);
        }
        Entry entry = known.get();
        withdraw(entry, hasEnded ? Stage.ENDED : Stage.CANCELLED, hasEnded ? "it has ended" : "it was cancelled", now);
        return new Accepted(
                "job " + job + " was " + entry.stage().label() + (hasEnded ? " and has ended" : " and is cancelled")
                        + (entry.reservation().isPresent() ? "; its room is being released" : ""));
    }

    private void withdraw(Entry entry, Stage over, String why, Instant now) {
        entry.reservation().ifPresent(reservation -> attempts.release(reservation.id(), why, now));
        giveBack(rooms.waits(entry.job()), now);
        entries.put(entry.job(), entry.to(over, Optional.empty(), Optional.of(why), now));
        note(
                EventKind.JOB_WITHDRAWN,
                entry.job(),
                "is no longer " + entry.stage().label() + ": " + why);
    }

    /** A job goes to the end of the queue; one that runs is to end first. */
    public ToOperator requeue(JobId job, Instant now) {
        Optional<Entry> known = entry(job).filter(entry -> !entry.isOver());
        if (known.isEmpty()) {
            return Refusals.noneOf(job, entries);
        }
        Entry entry = known.get();
        if (entry.is(Stage.LOST) || entry.is(Stage.REQUEUED)) {
            return new RequestRefused(
                    List.of("job " + job + " is " + entry.stage().label() + ": it waits again once it has ended"));
        }
        if (entry.request().ranks() == 0) {
            return new RequestRefused(List.of("job " + job + " asks for no device, so there is nothing to wait for"));
        }
        Optional<String> why = Optional.of("it was put to the end of the queue");
        boolean hasRoom = entry.is(Stage.PLACED) && entry.reservation().isPresent();
        entry.reservation().ifPresent(reservation -> attempts.release(reservation.id(), why.get(), now));
        giveBack(rooms.waits(job), now);
        Entry last = entry.fromNow(now).to(hasRoom ? Stage.REQUEUED : Stage.WAITING, Optional.empty(), why, now);
        entries.put(job, last);
        note(
                EventKind.JOB_REQUEUED,
                job,
                "was put to the end of the queue, and was " + entry.stage().label());
        return new Accepted("job " + job + " is at the end of the jobs of its priority ("
                + last.request().priority()
                + "): its age counts from now on"
                + (hasRoom ? "; its room is being released, and what runs is told to end" : ""));
    }

    /**
     * A job matters more, or less, than it said. Holds until its submitter says another.
     *
     * @param priority empty: what its submitter says, from when it says it again
     * @return what changes; empty when no request of the job is known
     */
    public Optional<String> setPriority(JobId job, Optional<Priority> priority) {
        Optional<Entry> known = entry(job).filter(entry -> !entry.isOver());
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

    private Optional<Entry> entry(JobId job) {
        return Optional.ofNullable(entries.get(job));
    }

    /** Those that wait, the first first. */
    private List<Entry> queue() {
        return entries.values().stream()
                .filter(entry -> entry.is(Stage.WAITING))
                .sorted(Comparator.comparingDouble((Entry entry) -> entry.key(settings))
                        .thenComparing(Entry::job))
                .toList();
    }

    /** For whoever measures it. */
    public QueueFigures figures() {
        return counts.figures(entries.values());
    }

    /** A job that an earlier coordinator placed, as the ledgers have it. */
    private void found(Reservation reservation, Instant now) {
        JobId job = reservation.id().job();
        Optional<Entry> known = entry(job);
        if (known.filter(Entry::isOnlyFound).isPresent()) {
            rooms.keep(reservation);
            return;
        }
        boolean hasNoRoom = known.map(entry -> entry.is(Stage.LOST)
                        || (entry.is(Stage.WAITING) && JobRooms.suits(reservation, entry.request())))
                .orElse(true);
        if (!hasNoRoom || !rooms.isIts(reservation)) {
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
        rooms.retain(List.of());
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
            if (entry.isOver() && isSilent) {
                entries.remove(entry.job());
            } else if (entry.is(Stage.PLACED) ? isSilent && isIdle : isSilent) {
                String why = "nothing was heard of its submitter for " + Durations.show(settings.lease());
                withdraw(entry, Stage.CANCELLED, why, now);
                entries.remove(entry.job());
            }
        }
        chosen.keySet().retainAll(entries.keySet());
        pauses.keySet().retainAll(entries.keySet());
        rooms.retain(entries.keySet());
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
            entries.put(
                    job,
                    entry.get()
                            .to(Stage.PLACED, Optional.of(reservation), Optional.empty(), now)
                            .running(Optional.of(now)));
            note(EventKind.JOB_PLACED, job, GangTexts.placed(waited, reservation));
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

    /** To look at all devices takes a while: for nobody it is not done. */
    private Offers offers(Cluster cluster) {
        return Offers.of(cluster.view(), cluster.draining(), claimed());
    }

    private void admit(Cluster cluster, Instant now) {
        List<Entry> queue = queue();
        if (queue.isEmpty()) {
            kept = Optional.empty();
            return;
        }
        Timeline timeline = new Timeline(offers(cluster).rooms(), gangs(cluster.view(), now), now);
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
                .map(entry -> RoomWish.of(entry.request(), offers(cluster).rooms(), cluster.lower(), before))
                .orElse(RoomWish.NONE);
        wish.toSay(before).forEach((job, text) -> note(EventKind.ROOM_ASKED, job, text));
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
                        parts)
                .with(entry.request().wanted().host());
        pauses.remove(entry.job());
        usual.addLast(entry.request());
        if (usual.size() > USUAL) {
            usual.removeFirst();
        }
        attempts.begin(reservation, now);
        entries.put(entry.job(), entry.to(Stage.PLACING, Optional.of(reservation), Optional.empty(), now));
    }

    /** What is reserved or being reserved, with what is asked of hosts. */
    private List<Reservation> claimed() {
        return attempts.kept().stream()
                .map(kept -> entry(kept.id().job())
                        .flatMap(Entry::counted)
                        .filter(counted -> counted.id().equals(kept.id()))
                        .orElse(kept))
                .toList();
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
