package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.Extent;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.ToCoordinator.ReservationRefused;
import dev.ullage.common.simulation.Dice;
import dev.ullage.common.simulation.Network;
import dev.ullage.common.simulation.Network.Weather;
import dev.ullage.common.simulation.Trace;
import dev.ullage.common.simulation.VirtualTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Jobs that get room on several devices of several hosts, or none, in virtual time: production ledgers, keepers, and
 * desks with their queue, attempts and recovery, and submitters as {@code ullage run --wait} is one. Everything follows
 * from the seed.
 *
 * <p>Until {@link #CALM_AT} all sorts of things go wrong ({@link GangDisturber}): messages are lost, doubled and
 * overtaken; links are cut; workers die anywhere between deciding and answering, and start again; disks are lost;
 * coordinators die and others take over, two at a time; jobs end, their submitters die, operators cancel them and put
 * them to the end; ranks come and go, and foreign memory. In a tenth of the seeds no coordinator is left at the end; in
 * a twentieth a host is away for more than a minute.
 *
 * <p>Submitters ask the coordinator with the highest token, as long as no device has seen a higher one: two that
 * coordinate at once do so towards the workers.
 */
final class GangSimulation {
    static final int COORDINATORS = 2;
    private static final int CALM_AT = 40_000;
    private static final int ALL_IS_OVER_AFTER = 36_000;
    private static final int PROBE_AFTER = 46_000;
    private static final int END_AFTER = 57_000;
    private static final int OUTAGE_MILLIS = 80_000;
    private static final long EVENT_BUDGET = 400_000;
    private static final JobId PROBE = new JobId("probe");

    /**
     * What went wrong, or nothing; and how much happened.
     *
     * @param submitted how many jobs asked for room
     * @param told how often a submitter was told that its job has it
     * @param found how many placed jobs new coordinators found
     * @param traceHash of everything that happened
     * @param lines the last lines of the trace, where they were asked for
     */
    record Outcome(
            Optional<String> violation,
            int submitted,
            int told,
            int found,
            long events,
            long traceHash,
            List<String> lines) {}

    private final GangMutant mutant;
    private final VirtualTime time = new VirtualTime(EVENT_BUDGET);
    private final Trace trace;
    private final Dice dice;
    private final Network network;
    private final GangDisturber disturber;
    private final boolean isNobodyLeft;
    private final boolean hasOutage;
    private final List<GangHost> hosts = new ArrayList<>();
    private final NavigableMap<DeviceId, GangHost.Device> devices = new TreeMap<>();
    private final List<Optional<GangCoordinator>> coordinators = new ArrayList<>();
    private final List<GangSubmitter> submitters = new ArrayList<>();
    private final GangPromises promises = new GangPromises(devices);
    private final NavigableMap<JobId, Long> operatedAt = new TreeMap<>();
    private long highestEpoch;
    private long nextPid = 100;
    private int jobs;
    private int told;
    private int found;

    private GangSimulation(long seed, GangMutant mutant, int traceLines) {
        this.mutant = mutant;
        this.trace = new Trace(time, traceLines);
        this.dice = new Dice(seed);
        this.disturber = new GangDisturber(this, dice.split());
        this.isNobodyLeft = dice.chance(100);
        this.hasOutage = dice.chance(50);
        int hostCount = 1 + dice.below(3);
        Weather weather = new Weather(dice.below(300), dice.below(300), dice.below(300), 1, 200, 9_000);
        this.network = new Network(time, dice.split(), COORDINATORS + hostCount + 1, weather);
        for (int host = 0; host < hostCount; host++) {
            addHost(host, 1 + dice.below(2));
        }
        for (int i = 0; i < COORDINATORS; i++) {
            coordinators.add(Optional.empty());
        }
    }

    private void addHost(int number, int deviceCount) {
        GangHost host = new GangHost(this, new NodeId("host-" + number), COORDINATORS + number);
        hosts.add(host);
        for (int i = 0; i < deviceCount; i++) {
            GangHost.Device device = host.new Device(new DeviceId("GPU-" + number + i), i);
            host.devices.add(device);
            devices.put(device.id, device);
        }
    }

    static Outcome run(long seed, GangMutant mutant) {
        return run(seed, mutant, 0);
    }

    /** @param traceLines how many of the last lines of its trace are wanted: they cost more than the run itself */
    static Outcome run(long seed, GangMutant mutant, int traceLines) {
        GangSimulation simulation = new GangSimulation(seed, mutant, traceLines);
        Optional<String> violation = Optional.empty();
        try {
            simulation.play();
        } catch (RuntimeException e) {
            // A rule of this simulation, an invariant of production code, or a bug in it: the seed is what a person
            // needs.
            violation = Optional.of("seed %d, %d ms: %s; replay: dev/checks/simulate.sh --gangs 1 %d --trace"
                    .formatted(seed, simulation.time.nowMillis(), what(e), seed));
        }
        return new Outcome(
                violation,
                simulation.submitters.size(),
                simulation.told,
                simulation.found,
                simulation.time.events(),
                simulation.trace.hash(),
                simulation.trace.lines());
    }

    private static String what(RuntimeException e) {
        return e instanceof Violation ? String.valueOf(e.getMessage()) : e.toString();
    }

    private void play() {
        start(0);
        every(250, () -> living().forEach(GangCoordinator::tick));
        every(250, () -> hosts.forEach(GangHost::tick));
        every(400, disturber::disturb);
        time.after(CALM_AT, this::becomeCalm);
        int calmAt = CALM_AT;
        if (hasOutage) {
            time.after(dice.between(CALM_AT - 10_000, CALM_AT), () -> dice.pick(hosts)
                    .crash(OUTAGE_MILLIS));
            calmAt += OUTAGE_MILLIS;
        }
        time.after(calmAt + ALL_IS_OVER_AFTER, this::endAll);
        time.after(calmAt + PROBE_AFTER, () -> submit(PROBE, devices.size(), 60, Extent.FEW_NODES));
        while (time.nowMillis() < calmAt + END_AFTER && time.step()) {
            // Every event checks what it changes.
        }
        checkEnd();
    }

    private void every(int millis, Runnable event) {
        time.after(millis, () -> {
            event.run();
            every(millis, event);
        });
    }

    // ---- what the others need

    VirtualTime time() {
        return time;
    }

    Dice dice() {
        return dice;
    }

    GangMutant mutant() {
        return mutant;
    }

    GangPromises promises() {
        return promises;
    }

    GangDisturber disturber() {
        return disturber;
    }

    List<GangSubmitter> submitters() {
        return submitters;
    }

    /** @param line made only where the trace is wanted */
    void note(What what, long who, Supplier<String> line) {
        trace.add(what.code(), who, 0, line);
    }

    boolean isStormy() {
        return time.nowMillis() < CALM_AT;
    }

    List<DeviceId> devices() {
        return List.copyOf(devices.keySet());
    }

    GangHost.Device device(DeviceId id) {
        return Objects.requireNonNull(devices.get(id));
    }

    private List<GangCoordinator> living() {
        return coordinators.stream().flatMap(Optional::stream).toList();
    }

    /** Who has the highest token, if no device has seen a higher one. */
    private Optional<GangCoordinator> inCharge() {
        return living().stream()
                .max(Comparator.comparing(GangCoordinator::token))
                .filter(one -> devices.values().stream()
                        .flatMap(device -> device.obeyed().stream())
                        .noneMatch(one.token()::isOlderThan));
    }

    void start(int slot) {
        highestEpoch++;
        GangCoordinator started = new GangCoordinator(this, slot, "c" + slot + "-" + highestEpoch, highestEpoch);
        coordinators.set(slot, Optional.of(started));
        note(What.START, slot, () -> started + " starts");
    }

    void stop(int slot) {
        coordinators.get(slot).ifPresent(one -> note(What.CRASH, slot, () -> one + " dies"));
        coordinators.set(slot, Optional.empty());
    }

    void cut(int from, int to, long millis) {
        network.cut(from, to);
        note(What.DISTURBANCE, from, () -> "cut from " + from + " to " + to + " for " + millis + " ms");
        time.after(millis, () -> network.heal(from, to));
    }

    /** Unless it is gone by then. */
    private void to(GangCoordinator coordinator, Runnable event) {
        if (coordinators.get(coordinator.endpoint).equals(Optional.of(coordinator))) {
            event.run();
        }
    }

    // ---- messages

    /** What arrives, and when it was sent, or that it does not, is a line of the trace. */
    private void send(What what, int from, int to, Supplier<String> text, Runnable delivery) {
        long sentAt = time.nowMillis();
        int copies = network.send(from, to, () -> {
            note(what, to, () -> "%s (sent at %d)".formatted(text.get(), sentAt));
            delivery.run();
        });
        if (copies != 1) {
            note(what, from, () -> text.get() + (copies == 0 ? ": lost" : ": will arrive twice"));
        }
    }

    void toDevice(GangCoordinator from, DeviceId id, LedgerCommand command) {
        GangHost.Device device = device(id);
        GangHost host = device.host();
        Optional<ReservationId> about = reservationOf(command);
        send(
                What.TO_WORKER,
                from.endpoint,
                host.endpoint,
                () -> from + " -> " + id + ": " + GangLines.of(command),
                () -> host.run(() -> device.asked(
                        command,
                        why -> about.ifPresent(one -> reply(
                                host,
                                from,
                                () -> why,
                                () -> from.refused(new ReservationRefused(host.node, id, one, why)))),
                        report -> reply(host, from, report))));
    }

    private static Optional<ReservationId> reservationOf(LedgerCommand command) {
        if (command instanceof LedgerCommand.Reserve reserve) {
            return Optional.of(reserve.reservation().id());
        }
        return command instanceof LedgerCommand.CommitReservation commit ? Optional.of(commit.id()) : Optional.empty();
    }

    private void reply(GangHost host, GangCoordinator to, GangHost.Report report) {
        reply(host, to, () -> GangLines.of(report.limits()), () -> to.hear(report));
    }

    private void reply(GangHost host, GangCoordinator to, Supplier<String> text, Runnable delivery) {
        send(
                What.TO_COORDINATOR,
                host.endpoint,
                to.endpoint,
                () -> host.node + " -> " + to + ": " + text.get(),
                () -> to(to, delivery));
    }

    /** To one that its worker takes for the coordinator. */
    void report(GangHost host, GangHost.Report report) {
        List<GangCoordinator> known = living();
        if (!known.isEmpty()) {
            reply(host, dice.pick(known), report);
        }
    }

    /** A submitter asks: over a connection, where nothing comes twice and nothing overtakes; but it may break. */
    void ask(Consumer<GangCoordinator> question) {
        overConnection(() -> inCharge().ifPresent(question));
    }

    void answer(Runnable heard) {
        overConnection(heard);
    }

    private void overConnection(Runnable delivery) {
        if (!isStormy() || !dice.chance(100)) {
            time.after(dice.between(1, isStormy() ? 400 : 10), delivery);
        }
    }

    // ---- jobs

    void submitOne() {
        JobId job = dice.chance(200) ? nameOfOneThatIsOver() : nextName();
        submit(
                job,
                1 + dice.below(devices.size()),
                dice.between(1, 50),
                dice.chance(300) ? Extent.SPREAD : Extent.FEW_NODES);
    }

    private JobId nextName() {
        return new JobId("gang-" + jobs++);
    }

    /** Another run may have the name of one that has ended, of which there may be parts still. */
    private JobId nameOfOneThatIsOver() {
        NavigableSet<JobId> over = new TreeSet<>();
        submitters.stream().filter(GangSubmitter::isGone).forEach(one -> over.add(one.job()));
        submitters.stream().filter(one -> !one.isGone()).forEach(one -> over.remove(one.job()));
        return over.isEmpty() ? nextName() : dice.pick(List.copyOf(over));
    }

    private void submit(JobId job, int ranks, long gibibytes, Extent extent) {
        JobRequest request = new JobRequest(
                job,
                "submitter-" + submitters.size(),
                Priority.MEDIUM,
                List.of(RankGroup.ofMemory(ranks, MemoryBytes.ofGibibytes(gibibytes))),
                1,
                JobRequest.Wanted.ANY.with(extent),
                OptionalLong.empty());
        note(What.RESERVATION, 0, () -> job + " is submitted: " + request.text());
        submitters.add(new GangSubmitter(this, request));
    }

    /** An operator cancels a job, or puts it to the end of the queue: once that is accepted it has no claim. */
    void operate(JobId job, boolean cancels) {
        inCharge().ifPresent(one -> {
            note(What.DISTURBANCE, one.endpoint, () -> (cancels ? "cancel " : "requeue ") + job + " at " + one);
            promises.over(job);
            operatedAt.put(job, time.nowMillis());
            if (cancels) {
                one.cancel(job, false);
            } else {
                one.requeue(job);
            }
        });
    }

    void told(JobId job, NavigableMap<DeviceId, MemoryBytes> layout, GangSubmitter.Answer by) {
        told++;
        note(
                What.RESERVATION,
                by.coordinator().endpoint,
                () -> job + ": its submitter is told that it is placed: " + layout);
        boolean isOverMeanwhile = operatedAt.getOrDefault(job, -1L) >= by.atMillis();
        if (!isOverMeanwhile) {
            promises.told(job, layout);
        }
        disturber.told(job);
    }

    void found(JobId job, GangCoordinator by) {
        found++;
        note(What.RESERVATION, by.endpoint, () -> job + ": found placed by " + by);
    }

    void happened(GangHost.Device device, LedgerEvent event) {
        promises.happened(device, event);
        disturber.happened(device, event);
    }

    RankInstance join(GangHost.Device device, JobId job) {
        RankInstance instance = new RankInstance(new RankId(job, dice.below(100)), nextPid++, 1);
        device.joins(new GangHost.Rank(instance));
        return instance;
    }

    // ---- the end

    private void becomeCalm() {
        note(What.CALM, 0, () -> "all faults are over");
        network.healAll(Weather.FINE);
        stop(1);
        if (isNobodyLeft) {
            stop(0);
        } else if (living().isEmpty()) {
            start(0);
        }
    }

    /** By now whoever is not placed must hold nothing; then everybody leaves, and there is room for the probe. */
    private void endAll() {
        checkParts();
        submitters.forEach(GangSubmitter::end);
        for (String state : List.of(RequestState.PLACED, RequestState.WAITING, RequestState.LOST)) {
            living().forEach(one -> one.jobs(state).forEach(job -> one.cancel(job, true)));
        }
        for (GangHost.Device device : devices.values()) {
            List.copyOf(device.ranks.keySet()).forEach(device::ends);
            device.host().run(() -> device.measured(0));
        }
    }

    private void checkParts() {
        if (isNobodyLeft) {
            promises.checkAllIsCommitted(devices.values());
        } else {
            GangCoordinator left = inCharge().orElseThrow();
            NavigableSet<JobId> placed = new TreeSet<>(left.jobs(RequestState.PLACED));
            placed.addAll(left.jobs(RequestState.PLACING));
            promises.checkNobodyElseHoldsAPart(devices.values(), placed, left.jobs(RequestState.WAITING));
        }
    }

    private void checkEnd() {
        checkParts();
        GangPromises.require(
                isNobodyLeft || promises.wasEverTold(PROBE),
                "a job for which there is room was not placed: " + inCharge());
    }
}
