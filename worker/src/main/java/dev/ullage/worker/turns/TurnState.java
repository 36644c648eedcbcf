package dev.ullage.worker.turns;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.common.protocol.TurnReport;
import dev.ullage.worker.turns.TurnInput.Allowed;
import dev.ullage.worker.turns.TurnInput.Asked;
import dev.ullage.worker.turns.TurnInput.Left;
import dev.ullage.worker.turns.TurnInput.Overdue;
import dev.ullage.worker.turns.TurnInput.Planned;
import dev.ullage.worker.turns.TurnInput.Released;
import dev.ullage.worker.turns.TurnInput.Replayed;
import dev.ullage.worker.turns.TurnInput.Said;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Who has a turn, who waits, on the devices of one host. {@link #on} is the only way to another state. No clock, no
 * thread, no log; one owner, not thread safe. All of it is soft: the ranks say it again.
 *
 * <pre>
 *   rank:   outside --asked--> waiting --given--> inside --released, gone--> outside
 *                                 \--overdue, gone, connected anew--> outside
 *   job:    no turn --all that its ranks need is free on every device--> turn --nobody is inside any more--> no turn
 * </pre>
 *
 * Invariants: the bursts of the turns on a device are within what is allowed there, but for what ranks said they hold
 * already. A job is given its turn on all of its devices at once, so no two jobs can each hold what the other waits
 * for. First come, first served: a device that an earlier job waits for is given to no later one. While a process that
 * may hold a turn from before the worker's start has not said so, none is given on its device.
 */
public final class TurnState {
    private final NavigableMap<DeviceId, Desk> desks = new TreeMap<>();
    private final NavigableMap<RankInstance, Seat> seats = new TreeMap<>();
    private final NavigableMap<JobId, Turn> turns = new TreeMap<>();
    private final List<Waiting> queue = new ArrayList<>();
    private List<TurnAnswer> answers = new ArrayList<>();

    /** One device. */
    private static final class Desk {
        private MemoryBytes allowed = MemoryBytes.ZERO;
        private MemoryBytes replayed = MemoryBytes.ZERO;
        private Optional<TurnPlan> plan = Optional.empty();
        private boolean isPlanKnown;
        private final NavigableSet<RankInstance> silent = new TreeSet<>();
        private TurnReport.Counts counts = TurnReport.Counts.NONE;

        Desk copy() {
            Desk copy = new Desk();
            copy.allowed = allowed;
            copy.replayed = replayed;
            copy.plan = plan;
            copy.isPlanKnown = isPlanKnown;
            copy.silent.addAll(silent);
            copy.counts = counts;
            return copy;
        }
    }

    /** Where a process is, and the last number it took, as far as it was heard. */
    private record Seat(DeviceId device, long ask) {}

    private record Waiting(RankInstance instance, long ask, Instant since) {
        JobId job() {
            return instance.rank().job();
        }
    }

    /** The state after the input, and the answers that it leads to, for whoever waits for them. */
    public List<TurnAnswer> on(TurnInput input, Instant now) {
        answers = new ArrayList<>();
        if (input instanceof Replayed replayed) {
            Desk desk = desk(replayed.device());
            desk.replayed = replayed.pool();
            desk.silent.addAll(replayed.pool().isZero() ? List.of() : replayed.silent());
        } else if (input instanceof Planned planned) {
            desk(planned.device()).plan = planned.plan();
            desk(planned.device()).isPlanKnown = true;
            refuseTheUnplanned(planned.device(), now);
        } else if (input instanceof Allowed allowance) {
            desk(allowance.device()).allowed = allowance.allowed();
        } else if (input instanceof Said said) {
            onSaid(said, now);
        } else if (input instanceof Asked asked) {
            onAsked(asked, now);
        } else if (input instanceof Released released) {
            onReleased(released, now);
        } else if (input instanceof Overdue overdue) {
            onOverdue(overdue, now);
        } else if (input instanceof Left left) {
            onLeft(left, now);
        }
        serve(now);
        return List.copyOf(answers);
    }

    private Desk desk(DeviceId device) {
        return desks.computeIfAbsent(device, key -> new Desk());
    }

    private void onSaid(Said said, Instant now) {
        RankInstance instance = said.instance();
        stopWaiting(instance, "it connected anew", now);
        seats.put(instance, new Seat(said.device(), said.ask()));
        desk(said.device()).silent.remove(instance);
        if (said.burst().isZero()) {
            leave(instance);
            return;
        }
        // A fact: it holds this already, whatever is allowed.
        Turn turn = turns.computeIfAbsent(instance.rank().job(), job -> new Turn(now));
        turn.keep(instance, new Turn.Part(said.device(), said.burst()));
        if (!turn.isInside(instance)) {
            turn.enter(instance);
        }
    }

    private void onAsked(Asked asked, Instant now) {
        RankInstance instance = asked.instance();
        Seat seat = seats.get(instance);
        if (seat == null || asked.ask() < seat.ask()) {
            answers.add(TurnAnswer.refused(instance, asked.ask(), "it has asked again since, or not said hello"));
            return;
        }
        Optional<Turn.Part> part =
                turn(instance).filter(turn -> turn.isInside(instance)).flatMap(turn -> turn.part(instance));
        if (part.isPresent()) {
            seats.put(instance, new Seat(seat.device(), asked.ask()));
            answers.add(TurnAnswer.given(instance, asked.ask(), part.get().burst()));
        } else if (asked.ask() > seat.ask()) {
            stopWaiting(instance, "it asked again", now);
            seats.put(instance, new Seat(seat.device(), asked.ask()));
            queue.add(new Waiting(instance, asked.ask(), now));
            refuseTheUnplanned(seat.device(), now);
        } else if (waiting(instance).isEmpty()) {
            answers.add(TurnAnswer.refused(instance, asked.ask(), "it waits no longer"));
        }
    }

    private void onReleased(Released released, Instant now) {
        RankInstance instance = released.instance();
        Seat seat = seats.get(instance);
        if (seat != null && released.ask() >= seat.ask()) {
            stopWaiting(instance, "it waits no longer", now);
            seats.put(instance, new Seat(seat.device(), released.ask()));
            leave(instance);
        }
    }

    private void refuseTheUnplanned(DeviceId device, Instant now) {
        Desk desk = desk(device);
        if (desk.isPlanKnown) {
            waitingOn(device).stream()
                    .filter(waiting -> planned(waiting.instance()).isEmpty())
                    .forEach(waiting ->
                            stopWaiting(waiting.instance(), "no turns are planned for it on " + device, now));
        }
    }

    private void onOverdue(Overdue overdue, Instant now) {
        Seat seat = seats.get(overdue.instance());
        if (seat == null || seat.ask() != overdue.ask()) {
            return;
        }
        Optional<Waiting> waiting = waiting(overdue.instance());
        if (waiting.isPresent()) {
            Desk desk = desk(seat.device());
            desk.counts = desk.counts.oneMissed();
            String waited =
                    "waited " + millis(waiting.get().since(), now) + " ms for a turn on " + seat.device() + "; ";
            stopWaiting(overdue.instance(), waited + standing(seat.device(), now), now);
        }
    }

    private void onLeft(Left left, Instant now) {
        RankInstance instance = left.instance();
        stopWaiting(instance, "its process is gone", now);
        seats.remove(instance);
        desks.values().forEach(desk -> desk.silent.remove(instance));
        turn(instance).ifPresent(turn -> turn.forget(instance));
        turns.values().removeIf(Turn::isOver);
    }

    private void leave(RankInstance instance) {
        turn(instance).ifPresent(turn -> turn.leave(instance));
        turns.values().removeIf(Turn::isOver);
    }

    private Optional<Turn> turn(RankInstance instance) {
        return Optional.ofNullable(turns.get(instance.rank().job()));
    }

    // ---- waiting

    private Optional<Waiting> waiting(RankInstance instance) {
        return queue.stream().filter(one -> one.instance().equals(instance)).findFirst();
    }

    private List<Waiting> waitingOn(DeviceId device) {
        return queue.stream()
                .filter(one -> deviceOf(one.instance()).equals(Optional.of(device)))
                .toList();
    }

    private Optional<DeviceId> deviceOf(RankInstance instance) {
        return Optional.ofNullable(seats.get(instance)).map(Seat::device);
    }

    private void stopWaiting(RankInstance instance, String reason, Instant now) {
        waiting(instance).ifPresent(waiting -> {
            dequeue(waiting, now);
            answers.add(TurnAnswer.refused(instance, waiting.ask(), reason));
        });
    }

    private void dequeue(Waiting waiting, Instant now) {
        queue.remove(waiting);
        long waited = millis(waiting.since(), now);
        deviceOf(waiting.instance()).map(this::desk).filter(desk -> waited > 0).ifPresent(desk -> {
            desk.counts = desk.counts.waited(waited);
        });
    }

    private Optional<RankTurn> planned(RankInstance instance) {
        return deviceOf(instance).flatMap(device -> desk(device).plan).flatMap(plan -> plan.of(instance));
    }

    // ---- giving

    /** Goes through the queue: first come, first served, and no later job takes what an earlier one waits for. */
    private void serve(Instant now) {
        Set<DeviceId> claimed = new TreeSet<>();
        Set<JobId> jobs = queue.stream().map(Waiting::job).collect(Collectors.toCollection(LinkedHashSet::new));
        for (JobId job : jobs) {
            Map<RankInstance, Turn.Part> demand = demand(job);
            if (!turns.containsKey(job)) {
                giveIfFree(job, demand, claimed, now);
            }
            Optional.ofNullable(turns.get(job)).ifPresent(turn -> letIn(job, turn, now));
            if (isWaiting(job) && couldEverFit(demand)) {
                demand.values().forEach(part -> claimed.add(part.device()));
            }
        }
        turns.values().removeIf(Turn::isOver);
    }

    /** All that the ranks of the job need at once, on all devices; of a rank that is not here yet too. */
    private Map<RankInstance, Turn.Part> demand(JobId job) {
        NavigableMap<RankInstance, Turn.Part> demand = new TreeMap<>();
        desks.forEach((device, desk) -> desk.plan.stream()
                .flatMap(plan -> plan.ranks().stream())
                .filter(rank -> rank.instance().rank().job().equals(job))
                .forEach(rank -> demand.put(rank.instance(), new Turn.Part(device, rank.burst()))));
        return demand;
    }

    private void giveIfFree(JobId job, Map<RankInstance, Turn.Part> demand, Set<DeviceId> claimed, Instant now) {
        NavigableMap<DeviceId, MemoryBytes> needs = byDevice(demand);
        boolean isFree = !needs.isEmpty()
                && needs.entrySet().stream()
                        .allMatch(need -> !claimed.contains(need.getKey()) && fits(need.getKey(), need.getValue()));
        if (isFree) {
            Turn turn = new Turn(now);
            demand.forEach(turn::keep);
            turns.put(job, turn);
        }
    }

    private static NavigableMap<DeviceId, MemoryBytes> byDevice(Map<RankInstance, Turn.Part> demand) {
        NavigableMap<DeviceId, MemoryBytes> needs = new TreeMap<>();
        demand.values().forEach(part -> needs.merge(part.device(), part.burst(), MemoryBytes::plus));
        return needs;
    }

    private boolean fits(DeviceId device, MemoryBytes more) {
        Desk desk = desk(device);
        return desk.silent.isEmpty() && !out(device).plus(more).isMoreThan(desk.allowed);
    }

    /** A job that needs more than is allowed waits until it is, and stands in nobody's way meanwhile. */
    private boolean couldEverFit(Map<RankInstance, Turn.Part> demand) {
        return byDevice(demand).entrySet().stream()
                .noneMatch(need -> need.getValue().isMoreThan(desk(need.getKey()).allowed));
    }

    private boolean isWaiting(JobId job) {
        return queue.stream().anyMatch(waiting -> waiting.job().equals(job));
    }

    private void letIn(JobId job, Turn turn, Instant now) {
        boolean isWanted = queue.stream()
                .map(Waiting::job)
                .filter(other -> !other.equals(job))
                .distinct()
                .flatMap(other -> demand(other).values().stream())
                .anyMatch(part -> turn.isOn(part.device()));
        for (Waiting waiting : List.copyOf(queue)) {
            RankInstance instance = waiting.instance();
            boolean mayEnter = turn.isOver() || !isWanted || turn.isStraggler(instance);
            if (waiting.job().equals(job) && mayEnter && hasPart(turn, instance)) {
                dequeue(waiting, now);
                enter(turn, waiting);
            }
        }
    }

    /** A rank that came into the plan after the turn was given has its part if there is room. */
    private boolean hasPart(Turn turn, RankInstance instance) {
        if (turn.part(instance).isEmpty()) {
            planned(instance)
                    .filter(rank -> fits(deviceOf(instance).orElseThrow(), rank.burst()))
                    .ifPresent(rank ->
                            turn.keep(instance, new Turn.Part(deviceOf(instance).orElseThrow(), rank.burst())));
        }
        return turn.part(instance).isPresent();
    }

    private void enter(Turn turn, Waiting waiting) {
        RankInstance instance = waiting.instance();
        Turn.Part part = turn.part(instance).orElseThrow();
        turn.enter(instance);
        answers.add(TurnAnswer.given(instance, waiting.ask(), part.burst()));
        Desk desk = desk(part.device());
        desk.counts = desk.counts.oneGiven();
    }

    // ---- copies

    /** An equal one that goes its own way from here. */
    public TurnState copy() {
        TurnState copy = new TurnState();
        desks.forEach((device, desk) -> copy.desks.put(device, desk.copy()));
        copy.seats.putAll(seats);
        turns.forEach((job, turn) -> copy.turns.put(job, turn.copy()));
        copy.queue.addAll(queue);
        return copy;
    }

    /** All that decides what comes next, as text: two with the same text behave the same, but for times and counts. */
    public String encoded() {
        StringBuilder text = new StringBuilder();
        desks.forEach((device, desk) -> text.append(desk.allowed.value())
                .append(',')
                .append(desk.replayed.value())
                .append(desk.isPlanKnown ? desk.plan.map(TurnPlan::toString).orElse("none") : "unknown")
                .append(desk.silent));
        text.append(seats);
        turns.forEach((job, turn) -> text.append(job).append(turn.encoded()));
        queue.forEach(waiting -> text.append(waiting.instance()).append(waiting.ask()));
        return text.toString();
    }

    // ---- what is asked about it

    /** What the turns on a device come to now, as far as it is known. */
    MemoryBytes out(DeviceId device) {
        return turns.values().stream().map(turn -> turn.on(device)).reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }

    /** The most that bursts on a device may come to until more is allowed. */
    public MemoryBytes bound(DeviceId device) {
        Desk desk = desk(device);
        MemoryBytes unheard = desk.silent.isEmpty() ? MemoryBytes.ZERO : desk.replayed;
        return desk.allowed.max(out(device)).max(unheard);
    }

    /** What the rank takes turns at; empty when it does not. */
    public Optional<RankTurn> offer(RankInstance instance) {
        return planned(instance);
    }

    /** The turns on a device, for tests and for people. */
    NavigableMap<JobId, Turn> turnsOn(DeviceId device) {
        NavigableMap<JobId, Turn> on = new TreeMap<>(turns);
        on.values().removeIf(turn -> !turn.isOn(device));
        return on;
    }

    /** How it stands on a device: who has the turn, or why nobody has. */
    private String standing(DeviceId device, Instant now) {
        Desk desk = desk(device);
        if (!desk.silent.isEmpty()) {
            return "the worker was restarted, and " + desk.silent.first() + " has not said what it holds";
        }
        String holders = turnsOn(device).entrySet().stream()
                .map(turn -> "%s has it since %d ms (ranks %s)"
                        .formatted(
                                turn.getKey(),
                                millis(turn.getValue().since(), now),
                                turn.getValue().ranks()))
                .collect(Collectors.joining(", "));
        return (holders.isEmpty() ? "nobody has it" : holders) + "; the pool is " + desk.allowed + ", of which "
                + out(device) + " is out";
    }

    /** What is shown of a device. */
    public TurnReport report(DeviceId device, Instant now) {
        Desk desk = desk(device);
        return new TurnReport(
                desk.plan,
                out(device),
                turnsOn(device).entrySet().stream()
                        .map(turn -> new TurnReport.Holder(
                                turn.getKey(), millis(turn.getValue().since(), now)))
                        .toList(),
                waitingOn(device).stream()
                        .map(one -> new TurnReport.Waiter(one.instance(), millis(one.since(), now)))
                        .toList(),
                desk.counts);
    }

    private static long millis(Instant from, Instant to) {
        return Math.max(0, Duration.between(from, to).toMillis());
    }
}
