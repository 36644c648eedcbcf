package dev.ullage.coordinator.planning.balance;

import dev.ullage.common.model.Counts;
import dev.ullage.coordinator.planning.balance.Placement.Placed;
import dev.ullage.coordinator.planning.balance.RunningJobs.Opening;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that wait, by priority and age, and which of them start. Priority and age trade: one whole of priority is worth
 * so much time in the queue, so everyone comes to the front at last.
 *
 * <p>The first that finds no room gets a node kept for it: the one that has room for it earliest, by the ends that are
 * known. Others pass it elsewhere, and on that node only when they end before or leave it the room it needs: they never
 * delay its start. No known end makes room: nothing is kept for it.
 *
 * <p>Nothing that runs is stopped. Mutable, with a single owner; what it does follows from the calls and their times.
 */
public final class JobQueue {
    /** How many of one kind of request are looked at for the node that is kept. */
    private static final int DEPTH = 20;

    private final RunningJobs running;
    private final PlacementPolicy policy;
    private final long ageOfPriority;
    private final TreeSet<Entry> order = new TreeSet<>();
    /** By number of their type of request; no type without a job. */
    private final Map<Integer, TreeSet<Entry>> byType = new LinkedHashMap<>();
    /** Types of which the first may find room; of all others it is known that it does not. */
    private final Set<Integer> untried = new LinkedHashSet<>();

    private final List<Entry> fresh = new ArrayList<>();
    private @Nullable Reservation reservation;
    private boolean isKeptNodeChanged;
    private long sequence;

    private record Entry(double key, long sequence, WaitingJob job, RequestType type) implements Comparable<Entry> {
        private static final Comparator<Entry> ORDER =
                Comparator.comparingDouble(Entry::key).thenComparingLong(Entry::sequence);

        @Override
        public int compareTo(Entry other) {
            return ORDER.compare(this, other);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Entry entry && compareTo(entry) == 0;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(sequence);
        }
    }

    private record Reservation(Entry entry, Opening opening) {}

    /** @param ageOfPriority milliseconds of waiting that one whole of priority is worth */
    public JobQueue(RunningJobs running, PlacementPolicy policy, long ageOfPriority) {
        this.running = running;
        this.policy = policy;
        this.ageOfPriority = ageOfPriority;
    }

    /**
     * Where a waiting job stands.
     *
     * @param position 1 for the first
     * @param waitsFor in words
     * @param startsBy milliseconds; empty when nothing is known that makes room for it
     * @param basis what that time rests on, or why there is none
     */
    public record Standing(int position, String waitsFor, Optional<Long> startsBy, String basis) {}

    public int size() {
        return order.size();
    }

    /** Whose turn it is; empty when nobody waits. */
    public Optional<WaitingJob> first() {
        return order.isEmpty() ? Optional.empty() : Optional.of(order.first().job());
    }

    public void submit(WaitingJob job) {
        RequestType type = running.board().typeOf(job.request());
        Entry entry =
                new Entry(QueueOrder.key(job.submittedAt(), job.priority(), ageOfPriority), sequence++, job, type);
        running.board().arrived(job.request());
        order.add(entry);
        fresh.add(entry);
        TreeSet<Entry> same = byType.computeIfAbsent(type.number(), wanted -> new TreeSet<>());
        if (same.isEmpty()) {
            untried.add(type.number());
        }
        same.add(entry);
    }

    /** A job has ended, or was stopped: its room is free. */
    public void ended(RunningJob job) {
        running.end(job);
        freed(job.placed().node());
    }

    /** A job waits no longer. */
    public void withdraw(WaitingJob job) {
        order.stream().filter(entry -> entry.job().equals(job)).findFirst().ifPresent(this::remove);
    }

    private void freed(int node) {
        if (reservation != null && reservation.opening().node() == node) {
            isKeptNodeChanged = true;
        }
        byType.forEach((number, same) -> {
            if (running.board().hosts(node, same.first().type())) {
                untried.add(number);
            }
        });
    }

    /** Starts all that can start now and says which, in the order of the queue as far as they compete. */
    public List<RunningJob> start(long now) {
        List<RunningJob> started = new ArrayList<>();
        settleReservation();
        for (Optional<Entry> next = firstUntried(); next.isPresent(); next = firstUntried()) {
            Entry entry = next.orElseThrow();
            if (running.board().hostsAnywhere(entry.type())
                    && policy.place(running.board(), entry.job().request()) instanceof Placed placed) {
                started.add(begin(entry, placed, now));
            } else {
                untried.remove(entry.type().number());
            }
            settleReservation();
        }
        passOnKeptNode(now, started);
        fresh.clear();
        return started;
    }

    private Optional<Entry> firstUntried() {
        return untried.stream().map(type -> entriesOf(type).first()).min(Comparator.naturalOrder());
    }

    private NavigableSet<Entry> entriesOf(int type) {
        return Objects.requireNonNull(byType.get(type), "no job waits with type " + type);
    }

    private RunningJob begin(Entry entry, Placed placed, long now) {
        RunningJob started =
                new RunningJob(entry.job(), placed, now, entry.job().endsAt(now));
        running.start(started);
        remove(entry);
        return started;
    }

    private void remove(Entry entry) {
        order.remove(entry);
        NavigableSet<Entry> same = entriesOf(entry.type().number());
        same.remove(entry);
        if (same.isEmpty()) {
            byType.remove(entry.type().number());
            untried.remove(entry.type().number());
        }
    }

    /** What is kept is for the first of the queue, as long as that one finds no room. */
    private void settleReservation() {
        Entry first = order.isEmpty() ? null : order.first();
        if (reservation != null) {
            int node = reservation.opening().node();
            if (!reservation.entry().equals(first)) {
                release(node);
            } else if (isKeptNodeChanged
                    && hostsWhenFree(node, reservation.entry().type())) {
                release(node);
            }
        }
        if (reservation == null
                && first != null
                && !untried.contains(first.type().number())) {
            running.earliest(first.type()).ifPresent(opening -> {
                reservation = new Reservation(first, opening);
                running.board().keep(opening.node(), true);
                isKeptNodeChanged = true;
            });
        }
    }

    private void release(int node) {
        reservation = null;
        running.board().keep(node, false);
        freed(node);
    }

    private boolean hostsWhenFree(int node, RequestType type) {
        running.board().keep(node, false);
        boolean hosts = running.board().hosts(node, type);
        running.board().keep(node, true);
        return hosts;
    }

    private void passOnKeptNode(long now, List<RunningJob> started) {
        Reservation kept = reservation;
        if (kept == null) {
            return;
        }
        int node = kept.opening().node();
        running.board().keep(node, false);
        List<Entry> candidates = isKeptNodeChanged
                ? passing(kept, now)
                : fresh.stream().filter(order::contains).toList();
        isKeptNodeChanged = false;
        for (Entry entry : candidates) {
            boolean mayGoThere = !entry.equals(kept.entry()) && running.board().hosts(node, entry.type());
            if (mayGoThere && delaysNobody(kept, entry, entry.job().endsAt(now), now)) {
                started.add(begin(entry, onKeptNode(node, entry), now));
            }
        }
        running.board().keep(node, true);
    }

    /** Of each kind of request the first ones that pass without delay, as far as each of them alone is concerned. */
    private List<Entry> passing(Reservation kept, long now) {
        Opening opening = kept.opening();
        List<Entry> entries = new ArrayList<>();
        for (NavigableSet<Entry> same : byType.values()) {
            RequestType type = same.first().type();
            if (running.board().hosts(opening.node(), type)) {
                boolean leavesRoom = delaysNobody(kept, same.first(), OptionalLong.empty(), now);
                same.stream()
                        .limit(DEPTH)
                        .filter(entry -> leavesRoom || entry.job().endsAt(now).orElse(Long.MAX_VALUE) <= opening.at())
                        .forEach(entries::add);
            }
        }
        Collections.sort(entries);
        return entries;
    }

    private boolean delaysNobody(Reservation kept, Entry entry, OptionalLong endsAt, long now) {
        Opening opening = kept.opening();
        RunningJob would = new RunningJob(entry.job(), onKeptNode(opening.node(), entry), now, endsAt);
        return running.fitsAt(opening.node(), kept.entry().type(), opening.at(), would);
    }

    private Placed onKeptNode(int node, Entry entry) {
        NodeState state = new NodeState();
        state.load(running.board(), node);
        List<Integer> devices = new ArrayList<>();
        for (int device :
                state.fullestThatFit(entry.type().devices(), entry.type().grains())) {
            devices.add(device);
        }
        return new Placed(
                node,
                running.board().node(node).node(),
                devices,
                () -> "beside what is kept for the first of the queue, whose start it does not delay");
    }

    /** Where a job stands that was not started; empty when it does not wait. */
    public Optional<Standing> standing(WaitingJob job) {
        int position = 0;
        for (Entry entry : order) {
            position++;
            if (entry.job().equals(job)) {
                return Optional.of(standing(entry, position));
            }
        }
        return Optional.empty();
    }

    private Standing standing(Entry entry, int position) {
        String lacks = policy.place(running.board(), entry.job().request()).reason();
        if (reservation != null && reservation.entry().equals(entry)) {
            Opening opening = reservation.opening();
            String node = running.board().node(opening.node()).node();
            return new Standing(
                    position,
                    "%s; %s is kept for it".formatted(lacks, node),
                    Optional.of(opening.at()),
                    "the times that what ends on %s by then was submitted with, of jobs: %d"
                            .formatted(node, running.endingBy(opening.node(), opening.at())));
        }
        return new Standing(
                position,
                lacks,
                Optional.empty(),
                position == 1
                        ? "no known end of a job makes room for it"
                        : "%s %s before it, and only for the first is a node kept"
                                .formatted(
                                        Counts.of(position - 1, "job"), Counts.word(position - 1, "stands", "stand")));
    }
}
