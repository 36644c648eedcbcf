package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.HeldReservation;
import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.LedgerEvent.ReservationCommitted;
import dev.ullage.common.ledger.LedgerEvent.ReservationMade;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.simulation.Dice;
import dev.ullage.common.simulation.Network;
import dev.ullage.common.simulation.Network.Weather;
import dev.ullage.common.simulation.VirtualTime;
import dev.ullage.coordinator.admission.GangAttempt;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;

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

    /** What went wrong, or nothing; and how much happened. */
    record Outcome(Optional<String> violation, int submitted, int told, int found, long events) {}

    private final GangMutant mutant;
    private final VirtualTime time = new VirtualTime(EVENT_BUDGET);
    private final Dice dice;
    private final Network network;
    private final boolean isNobodyLeft;
    private final List<GangHost> hosts = new ArrayList<>();
    private final NavigableMap<DeviceId, GangHost.Device> devices = new TreeMap<>();
    private final List<Optional<GangCoordinator>> coordinators = new ArrayList<>();
    private final NavigableMap<ReservationId, NavigableSet<DeviceId>> everReserved = new TreeMap<>();
    private final NavigableMap<ReservationId, Reservation> placed = new TreeMap<>();
    private final NavigableSet<ReservationId> withdrawn = new TreeSet<>();
    private long highestEpoch;
    private long nextPid = 100;
    private int jobs;
    private int submitted;
    private int told;
    private int found;

    private GangSimulation(long seed, GangMutant mutant) {
        this.mutant = mutant;
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
        GangSimulation simulation = new GangSimulation(seed, mutant);
        Optional<String> violation = Optional.empty();
        try {
            simulation.play();
        } catch (IllegalStateException e) {
            violation = Optional.of("seed %d, %d ms: %s; replay: dev/checks/simulate.sh --gangs 1 %d"
                    .formatted(seed, simulation.time.nowMillis(), e.getMessage(), seed));
        }
        return new Outcome(
                violation, simulation.submitted, simulation.told, simulation.found, simulation.time.events());
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
        coordinators.set(
                slot, Optional.of(new GangCoordinator(this, slot, "c" + slot + "-" + highestEpoch, highestEpoch)));
    }

    /** Unless it is gone by then. */
    private void to(GangCoordinator coordinator, Runnable event) {
        if (coordinators.get(coordinator.endpoint).equals(Optional.of(coordinator))) {
            event.run();
        }
    }

    void toDevice(GangCoordinator from, DeviceId id, LedgerCommand command, BiConsumer<ReservationId, String> refused) {
        GangHost.Device device = device(id);
        GangHost host = device.host();
        Optional<ReservationId> about = reservationOf(command);
        network.send(
                from.endpoint,
                host.endpoint,
                () -> host.run(() -> device.asked(
                        command,
                        why -> about.ifPresent(one -> network.send(
                                host.endpoint, from.endpoint, () -> to(from, () -> refused.accept(one, why)))),
                        report -> reply(host, from, report))));
    }

    private static Optional<ReservationId> reservationOf(LedgerCommand command) {
        if (command instanceof LedgerCommand.Reserve reserve) {
            return Optional.of(reserve.reservation().id());
        }
        return command instanceof LedgerCommand.CommitReservation commit ? Optional.of(commit.id()) : Optional.empty();
    }

    private void reply(GangHost host, GangCoordinator to, LimitsReported report) {
        network.send(host.endpoint, to.endpoint, () -> to(to, () -> to.hear(report)));
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
            case 1 -> coordinators.set(dice.below(COORDINATORS), Optional.empty());
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
        time.after(dice.between(500, 20_000), () -> network.heal(from, to));
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
        network.healAll(Weather.FINE);
        coordinators.set(1, Optional.empty());
        if (isNobodyLeft) {
            coordinators.set(0, Optional.empty());
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

    void submitted() {
        submitted++;
    }

    void happened(GangHost.Device device, LedgerEvent event) {
        if (event instanceof ReservationMade made) {
            everReserved
                    .computeIfAbsent(made.reservation().id(), key -> new TreeSet<>())
                    .add(device.id);
        } else if (event instanceof ReservationCommitted committed) {
            Reservation reservation = device.logic()
                    .ledger()
                    .reservation(committed.id())
                    .orElseThrow()
                    .reservation();
            for (ReservedPart part : reservation.parts()) {
                require(
                        everReserved
                                .getOrDefault(committed.id(), new TreeSet<>())
                                .contains(part.device()),
                        committed.id() + " is committed on " + device.id + " before " + part.device()
                                + " has reserved it");
            }
        }
    }

    /** What is promised fits, what the ranks have in force fits, and no placed job has lost its part. */
    void check(GangHost.Device device) {
        DeviceLedger ledger = device.logic().ledger();
        MemoryBytes budget = ledger.inForce().budget();
        if (!device.wasWiped) {
            long promised = promised(device.id, ledger);
            require(promised <= budget.value(), device.id + " promised " + promised + " of " + budget.value());
            require(promised == ledger.promised().value(), device.id + " counts wrongly: " + ledger.promised());
            long inForce = device.ranks.values().stream()
                    .mapToLong(rank -> rank.inForce.value())
                    .sum();
            require(inForce <= budget.value(), device.id + " has " + inForce + " in force of " + budget.value());
        }
        placed.values().stream()
                .filter(this::isToStay)
                .filter(reservation -> reservation.part(device.id).isPresent())
                .forEach(reservation -> requireCommitted(reservation, device));
    }

    private static long promised(DeviceId device, DeviceLedger ledger) {
        NavigableMap<JobId, Long> ceilings = new TreeMap<>();
        ledger.grants()
                .forEach(grant -> ceilings.merge(
                        grant.instance().rank().job(), grant.ceiling().value(), Long::sum));
        NavigableMap<JobId, Long> most = new TreeMap<>();
        ledger.reservations()
                .forEach(held -> most.merge(
                        held.id().job(),
                        held.reservation().part(device).orElseThrow().amount().value(),
                        Long::sum));
        ceilings.forEach((job, amount) -> most.merge(job, amount, Math::max));
        return most.values().stream().mapToLong(Long::longValue).sum();
    }

    private boolean isToStay(Reservation reservation) {
        return !withdrawn.contains(reservation.id())
                && reservation.parts().stream().noneMatch(part -> device(part.device()).wasWiped);
    }

    private static void requireCommitted(Reservation reservation, GangHost.Device device) {
        DeviceLedger ledger = device.host().isAlive() ? device.logic().ledger() : device.durable();
        require(
                ledger.reservation(reservation.id())
                        .filter(HeldReservation::committed)
                        .isPresent(),
                reservation.id() + " is placed and " + device.id + " does not keep its part");
    }

    /** Its submitter is told that it has its room. */
    void told(Reservation reservation) {
        told++;
        isPlaced(reservation);
    }

    /** A new coordinator takes it for placed, also where an older one was about to give it back. */
    void found(Reservation reservation) {
        found++;
        withdrawn.remove(reservation.id());
        isPlaced(reservation);
    }

    private void isPlaced(Reservation reservation) {
        placed.put(reservation.id(), reservation);
        if (isToStay(reservation)) {
            reservation.parts().forEach(part -> requireCommitted(reservation, device(part.device())));
            join(
                    device(reservation.parts().get(0).device()),
                    reservation.id().job().value());
        }
    }

    void withdrawn(ReservationId id) {
        withdrawn.add(id);
    }

    /** Without being asked to: only where a disk was lost, or nobody was ever told. */
    void givenBack(Reservation reservation, String why) {
        require(
                !placed.containsKey(reservation.id()) || !isToStay(reservation),
                reservation.id() + " was placed and is given back: " + why);
        withdrawn.add(reservation.id());
    }

    private void checkNobodyHoldsAPart() {
        for (GangHost.Device device : devices.values()) {
            for (HeldReservation held : device.logic().ledger().reservations()) {
                boolean isOfPlaced = placed.containsKey(held.id()) && !withdrawn.contains(held.id());
                require(
                        isNobodyLeft ? held.committed() : isOfPlaced,
                        device.id + " still keeps " + held.reservation() + " which is not placed");
            }
        }
    }

    private void checkEnd() {
        checkNobodyHoldsAPart();
        if (isNobodyLeft) {
            return;
        }
        boolean isProbePlaced = placed.keySet().stream().anyMatch(id -> id.job().equals(PROBE));
        require(
                isProbePlaced,
                "a job for which there is room was not placed: "
                        + living().stream().map(GangCoordinator::attempts).toList());
    }

    private static void require(boolean condition, String violation) {
        if (!condition) {
            throw new IllegalStateException(violation);
        }
    }
}
