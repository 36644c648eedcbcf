package dev.ullage.cli.simulation;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.simulation.Dice;
import dev.ullage.common.simulation.Network;
import dev.ullage.common.simulation.Network.Weather;
import dev.ullage.common.simulation.Trace;
import dev.ullage.common.simulation.VirtualTime;
import dev.ullage.config.LimitSettings;
import dev.ullage.coordinator.decisions.Decision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/** All there is in one run, and how its parts reach each other. */
final class World {
    static final int COORDINATORS = 2;
    static final List<JobId> JOBS = List.of(new JobId("job"), new JobId("other"));
    private static final long EVENT_BUDGET = 100_000;
    private static final long GIBIBYTE = 1L << 30;
    private static final int REPEATED_PER_MILLE = 150;
    private static final long LATE_MILLIS = 2000;

    private final Scenario scenario;
    private final Rules rules;
    private final VirtualTime time = new VirtualTime(EVENT_BUDGET);
    private final Trace trace;
    private final Dice dice;
    private final Dice socketDice;
    private final Network network;
    private final List<SimulatedCoordinator> coordinators = new ArrayList<>();
    private final List<SimulatedHost> hosts = new ArrayList<>();
    private final List<SimulatedDevice> devices = new ArrayList<>();
    private final List<SimulatedRank> ranks = new ArrayList<>();
    private final List<Decision> decisions = new ArrayList<>();
    private final Map<RankInstance, SimulatedRank> byInstance = new TreeMap<>();
    private boolean calm;
    private long turnsGiven;
    private int nextRank;
    private long nextPid = 1000;

    World(Scenario scenario, Rules rules, int traceLines) {
        this.scenario = scenario;
        this.rules = rules;
        this.trace = new Trace(time, traceLines);
        this.dice = new Dice(~scenario.seed());
        this.socketDice = dice.split();
        this.network =
                new Network(time, dice.split(), COORDINATORS + scenario.size().hosts(), scenario.weather());
        for (int i = 0; i < COORDINATORS; i++) {
            coordinators.add(new SimulatedCoordinator(this, i));
        }
        for (int i = 0; i < scenario.size().hosts(); i++) {
            addHost(i);
        }
        coordinators.get(0).start();
        hosts.forEach(SimulatedHost::start);
        for (SimulatedDevice device : devices) {
            for (int i = 0; i < scenario.size().ranksPerDevice(); i++) {
                join(device);
            }
        }
    }

    private void addHost(int number) {
        List<SimulatedDevice> own = new ArrayList<>();
        for (int i = 0; i < scenario.size().devicesPerHost(); i++) {
            own.add(new SimulatedDevice(devices.size() + i, dice.between(8 * GIBIBYTE, 80 * GIBIBYTE)));
        }
        devices.addAll(own);
        hosts.add(new SimulatedHost(this, dice.split(), number, own));
    }

    // ---- parts

    Scenario scenario() {
        return scenario;
    }

    Rules rules() {
        return rules;
    }

    LimitSettings limits() {
        return scenario.limits();
    }

    VirtualTime time() {
        return time;
    }

    Trace trace() {
        return trace;
    }

    Network network() {
        return network;
    }

    List<SimulatedCoordinator> coordinators() {
        return coordinators;
    }

    List<SimulatedHost> hosts() {
        return hosts;
    }

    List<SimulatedDevice> devices() {
        return devices;
    }

    SimulatedHost host(NodeId node) {
        return hosts.stream().filter(host -> host.node.equals(node)).findFirst().orElseThrow();
    }

    SimulatedHost hostOf(SimulatedDevice device) {
        return hosts.get(device.number / scenario.size().devicesPerHost());
    }

    /** The living processes, in the order in which they came. */
    List<SimulatedRank> ranks() {
        return ranks;
    }

    List<SimulatedRank> ranksOn(SimulatedDevice device) {
        return ranks.stream().filter(rank -> rank.device == device).toList();
    }

    boolean isProcessAlive(RankInstance instance) {
        return byInstance.containsKey(instance);
    }

    // ---- decisions

    void decided(Decision decision) {
        decisions.add(decision);
    }

    /** What all coordinators decided, in the order of the time. */
    List<Decision> decisions() {
        return decisions;
    }

    // ---- ranks come and go

    void join(SimulatedDevice device) {
        JobId job = scenario.takesTurns() ? JOBS.get(nextRank % JOBS.size()) : JOBS.get(0);
        start(device, new RankId(job, nextRank++), nextPid++);
    }

    /** Another process of the same rank; the kernel may give it the pid of the one before. */
    void restart(SimulatedRank old) {
        end(old);
        start(old.device, old.instance.rank(), dice.chance(300) ? old.instance.pid() : nextPid++);
    }

    void end(SimulatedRank rank) {
        rank.die();
        ranks.remove(rank);
        byInstance.remove(rank.instance);
    }

    private void start(SimulatedDevice device, RankId id, long pid) {
        RankInstance instance = new RankInstance(id, pid, time.nowMillis() + 1);
        long held = dice.chance(150) ? dice.between(0, device.allocatableBytes / 3) : 0;
        SimulatedRank rank = new SimulatedRank(
                this,
                dice.split(),
                Math.toIntExact(pid),
                new SimulatedRank.Place(hostOf(device), device),
                instance,
                held);
        ranks.add(rank);
        byInstance.put(instance, rank);
        note(What.START, pid, held, () -> instance + " starts and holds " + held);
    }

    // ---- messages

    void toCoordinator(SimulatedHost from, SimulatedCoordinator to, Runnable delivery) {
        network.send(endpoint(from), endpoint(to), delivery);
    }

    void toHost(SimulatedCoordinator from, SimulatedHost to, Runnable delivery) {
        network.send(endpoint(from), endpoint(to), delivery);
    }

    static int endpoint(SimulatedCoordinator coordinator) {
        return coordinator.number;
    }

    static int endpoint(SimulatedHost host) {
        return COORDINATORS + host.number;
    }

    /** A stream socket loses nothing unless it breaks; that messages overtake each other here is harsher than that. */
    void overSocket(Runnable delivery) {
        time.after(socketDice.between(0, calm ? 3 : 60), delivery);
        if (!calm && socketDice.chance(REPEATED_PER_MILLE)) {
            time.after(socketDice.between(0, LATE_MILLIS), delivery);
        }
    }

    void turnGiven() {
        turnsGiven++;
    }

    long turnsGiven() {
        return turnsGiven;
    }

    void note(What what, long who, long value, Supplier<String> line) {
        trace.add(what.code(), who, value, line);
    }

    // ---- the end of all faults

    boolean isCalm() {
        return calm;
    }

    /** Whether two coordinators are alive for good, and no worker can tell which is the one. */
    boolean isDuel() {
        return calm && scenario.isDuelLeftAlive();
    }

    /** Nothing fails any more. One coordinator is left, or two that both believe they are the one. */
    void calmDown() {
        calm = true;
        network.healAll(Weather.FINE);
        hosts.forEach(SimulatedHost::disarm);
        ranks.forEach(rank -> rank.goDeaf(0));
        SimulatedCoordinator left = coordinators.stream()
                .filter(SimulatedCoordinator::isAlive)
                .findFirst()
                .orElse(coordinators.get(0));
        left.start();
        for (SimulatedCoordinator other : coordinators) {
            if (other != left && scenario.isDuelLeftAlive()) {
                other.start();
            } else if (other != left && other.isAlive()) {
                other.crash();
            }
        }
        hosts.forEach(host -> host.follows = scenario.isDuelLeftAlive() ? host.number % COORDINATORS : left.number);
        note(What.CALM, 0, 0, () -> "all faults are over");
    }
}
