package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.simulation.Dice;
import dev.ullage.common.simulation.Network;
import dev.ullage.common.simulation.Network.Weather;
import dev.ullage.common.simulation.Trace;
import dev.ullage.common.simulation.VirtualTime;
import dev.ullage.coordinator.admission.GangAttempt;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * Jobs that get room on several devices of several hosts, or none, in virtual time: production ledgers, keepers,
 * attempts and recovery. Everything follows from the seed.
 *
 * <p>Until {@link #CALM_AT}: messages are lost, doubled and overtaken; links are cut; workers die anywhere between
 * deciding and answering, and start again; disks are lost; coordinators die and others take over, two at a time; ranks
 * come and go, and foreign memory. In a tenth of the seeds no coordinator is left at the end.
 */
final class GangSimulation {
    static final int CALM_AT = 40_000;
    private static final int ALL_IS_OVER_AT = 65_000;
    private static final int PROBE_AT = 80_000;
    private static final int END_AT = 92_000;
    private static final int COORDINATORS = 2;
    private static final long EVENT_BUDGET = 400_000;
    private static final JobId PROBE = new JobId("probe");

    /**
     * What went wrong, or nothing; and how much happened.
     *
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
    private final boolean isNobodyLeft;
    private final List<GangHost> hosts = new ArrayList<>();
    private final NavigableMap<DeviceId, GangHost.Device> devices = new TreeMap<>();
    private final List<Optional<GangCoordinator>> coordinators = new ArrayList<>();
    private final GangPromises promises = new GangPromises(devices, time);
    private long highestEpoch;
    private long nextPid = 100;
    private int jobs;
    private int submitted;
    private int told;
    private int found;

    private GangSimulation(long seed, GangMutant mutant, int traceLines) {
        this.mutant = mutant;
        this.trace = new Trace(time, traceLines);
        this.dice = new Dice(seed);
        this.isNobodyLeft = dice.chance(100);
        int hostCount = 1 + dice.below(3);
        Weather weather = new Weather(dice.below(300), dice.below(300), dice.below(300), 1, 200, 9_000);
        this.network = new Network(time, dice.split(), COORDINATORS + hostCount, weather);
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
            GangHost.Device device = host.new Device(new DeviceId("GPU-" + number + i));
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
                simulation.submitted,
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
        every(400, this::disturb);
        time.after(CALM_AT, this::becomeCalm);
        time.after(ALL_IS_OVER_AT, this::endAll);
        time.after(PROBE_AT, () -> living().forEach(one -> one.submit(PROBE, devices(), 60)));
        while (time.nowMillis() < END_AT && time.step()) {
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

    NodeId nodeOf(DeviceId device) {
        return device(device).host().node;
    }

    private GangHost.Device device(DeviceId id) {
        return Objects.requireNonNull(devices.get(id));
    }

    private List<GangCoordinator> living() {
        return coordinators.stream().flatMap(Optional::stream).toList();
    }

    private void start(int slot) {
        highestEpoch++;
        GangCoordinator started = new GangCoordinator(this, slot, "c" + slot + "-" + highestEpoch, highestEpoch);
        coordinators.set(slot, Optional.of(started));
        note(What.START, slot, () -> started + " starts");
    }

    private void stop(int slot) {
        coordinators.get(slot).ifPresent(one -> note(What.CRASH, slot, () -> one + " dies"));
        coordinators.set(slot, Optional.empty());
    }

    /** Unless it is gone by then. */
    private void to(GangCoordinator coordinator, Runnable event) {
        if (coordinators.get(coordinator.endpoint).equals(Optional.of(coordinator))) {
            event.run();
        }
    }

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

    void toDevice(GangCoordinator from, DeviceId id, LedgerCommand command, BiConsumer<ReservationId, String> refused) {
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
                        why -> about.ifPresent(one -> reply(host, from, () -> why, () -> refused.accept(one, why))),
                        report -> reply(host, from, report))));
    }

    private static Optional<ReservationId> reservationOf(LedgerCommand command) {
        if (command instanceof LedgerCommand.Reserve reserve) {
            return Optional.of(reserve.reservation().id());
        }
        return command instanceof LedgerCommand.CommitReservation commit ? Optional.of(commit.id()) : Optional.empty();
    }

    private void reply(GangHost host, GangCoordinator to, LimitsReported report) {
        reply(host, to, () -> GangLines.of(report), () -> to.hear(report));
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
    void report(GangHost host, LimitsReported report) {
        List<GangCoordinator> known = living();
        if (!known.isEmpty()) {
            reply(host, dice.pick(known), report);
        }
    }

    // ---- weather

    private void disturb() {
        if (!isStormy()) {
            return;
        }
        GangHost.Device device = device(dice.pick(devices()));
        GangHost host = device.host();
        switch (dice.below(14)) {
            case 0 -> start(dice.below(COORDINATORS));
            case 1 -> stop(dice.below(COORDINATORS));
            case 2 -> host.crash();
            case 3 -> cut(host);
            case 4, 5 -> join(device, "other-" + dice.below(3));
            case 6 -> device.ranks.keySet().stream().findFirst().ifPresent(device::ends);
            case 7 -> {
                long foreign = dice.between(0, 25);
                host.run(() -> device.measured(foreign));
            }
            case 8 -> loseDisk(device);
            case 9 -> living().forEach(this::withdrawOne);
            default -> living().forEach(this::submitOne);
        }
    }

    private void cut(GangHost host) {
        int coordinator = dice.below(COORDINATORS);
        int from = dice.chance(500) ? coordinator : host.endpoint;
        int to = from == coordinator ? host.endpoint : coordinator;
        network.cut(from, to);
        note(What.DISTURBANCE, from, () -> "cut from " + from + " to " + to);
        time.after(dice.between(500, 20_000), () -> {
            network.heal(from, to);
            note(What.DISTURBANCE, from, () -> "healed from " + from + " to " + to);
        });
    }

    private void join(GangHost.Device device, String job) {
        RankInstance instance = new RankInstance(new RankId(new JobId(job), dice.below(100)), nextPid++, 1);
        device.joins(new GangHost.Rank(instance));
    }

    private void loseDisk(GangHost.Device device) {
        if (dice.chance(150)) {
            device.host().crash();
            device.disk.wipe();
            device.wasWiped = true;
            note(What.DISTURBANCE, 0, () -> device.id + " loses its disk");
        }
    }

    private void submitOne(GangCoordinator to) {
        List<DeviceId> all = new ArrayList<>(devices());
        int count = 1 + dice.below(all.size());
        while (all.size() > count) {
            all.remove(dice.below(all.size()));
        }
        to.submit(new JobId("gang-" + jobs++), all, dice.between(1, 50));
    }

    private void withdrawOne(GangCoordinator to) {
        List<GangAttempt> attempts = to.attempts();
        if (!attempts.isEmpty()) {
            to.withdraw(dice.pick(attempts));
        }
    }

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
        checkNobodyHoldsAPart();
        living().forEach(one -> one.attempts().forEach(one::withdraw));
        for (GangHost.Device device : devices.values()) {
            List.copyOf(device.ranks.keySet()).forEach(device::ends);
            device.host().run(() -> device.measured(0));
        }
    }

    // ---- what must hold

    GangPromises promises() {
        return promises;
    }

    void submitted() {
        submitted++;
    }

    /** Its submitter is told that it has its room. */
    void told(Reservation reservation, CoordinatorToken by) {
        told++;
        note(What.RESERVATION, by.epoch(), () -> reservation.id() + ": its submitter is told that it is placed");
        placed(reservation, by);
    }

    /** A new coordinator takes it for placed. */
    void found(Reservation reservation, CoordinatorToken by) {
        found++;
        note(What.RESERVATION, by.epoch(), () -> reservation.id() + ": found placed by " + by);
        placed(reservation, by);
    }

    private void placed(Reservation reservation, CoordinatorToken by) {
        promises.placed(reservation, by);
        join(device(reservation.parts().get(0).device()), reservation.id().job().value());
    }

    private void checkNobodyHoldsAPart() {
        promises.checkNobodyHoldsAPart(devices.values(), isNobodyLeft);
    }

    private void checkEnd() {
        checkNobodyHoldsAPart();
        if (isNobodyLeft) {
            return;
        }
        GangPromises.require(
                promises.isAnyPlaced(PROBE),
                "a job for which there is room was not placed: "
                        + living().stream().map(GangCoordinator::attempts).toList());
    }
}
