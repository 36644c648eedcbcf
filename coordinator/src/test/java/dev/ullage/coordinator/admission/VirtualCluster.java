package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerDecision;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.LedgerInvariants;
import dev.ullage.common.ledger.Refusal;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.Extent;
import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.ReservationRefused;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.RequestRefused;
import dev.ullage.common.protocol.ToOperator.Requests;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.config.QueueSettings;
import dev.ullage.coordinator.admission.AdmissionDesk.Cluster;
import dev.ullage.coordinator.admission.GangAttempt.Send;
import dev.ullage.coordinator.events.Change;
import dev.ullage.coordinator.planning.RoomToMake;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * A desk and the ledgers of a cluster's devices, in virtual time. What is sent to a device is done at once and shown in
 * its next report, one tick later; a device that does not hear loses what is sent to it.
 */
final class VirtualCluster {
    static final Duration TICK = Duration.ofMillis(250);

    private static final ActorRef<ToWorker> WORKER =
            TestInbox.<ToWorker>create().getRef();
    private static final ActorRef<ToOperator> OPERATOR =
            TestInbox.<ToOperator>create().getRef();

    final QueueSettings settings = QueueSettings.defaults();
    final List<Change> changes = new ArrayList<>();
    final NavigableSet<NodeId> draining = new TreeSet<>();
    AdmissionDesk desk = new AdmissionDesk(settings);
    CoordinatorToken token = new CoordinatorToken(1, "first");
    Instant now = Instant.parse("2026-01-01T00:00:00Z");

    /** What nodes say of their hosts, as if nothing ran there; of others nothing is said. */
    private final NavigableMap<NodeId, HostCapacity> hosts = new TreeMap<>();

    /** Of each job whose ranks are there, what they use of a host for each that they were given. */
    private final NavigableMap<JobId, MemoryBytes> running = new TreeMap<>();

    private final NavigableMap<DeviceId, Device> devices = new TreeMap<>();
    private final Map<JobId, SubmitRequest> submitters = new LinkedHashMap<>();
    private ClusterView view = ClusterView.EMPTY;

    /** A device with its real ledger. */
    private static final class Device {
        final NodeId node;
        final DeviceInfo info;
        final MemoryBytes used;
        DeviceLedger ledger;
        boolean hears = true;
        SampleState readings = SampleState.FRESH;

        Device(NodeId node, DeviceInfo info, BudgetTerms terms) {
            this.node = node;
            this.info = info;
            this.used = terms.foreign();
            this.ledger = DeviceLedger.open(new LedgerEvent.Opened(info.id(), terms));
        }

        Optional<String> does(CoordinatorToken token, Send send) {
            LedgerDecision decision = ledger.decide(
                    switch (send.step()) {
                        case RESERVE -> new LedgerCommand.Reserve(token, send.reservation());
                        case COMMIT ->
                            new LedgerCommand.CommitReservation(
                                    token, send.reservation().id());
                        case RELEASE ->
                            new LedgerCommand.ReleaseReservation(
                                    token, send.reservation().id());
                    });
            for (LedgerEvent event : decision.events()) {
                ledger = LedgerInvariants.requireWithinBudget(ledger, event, ledger.apply(event));
            }
            return decision.refusals().stream().map(Refusal::message).findFirst();
        }

        LimitsReported report(CoordinatorToken token, NavigableSet<JobId> running) {
            List<GrantReport> grants = kept().stream()
                    .map(held -> held.reservation().id().job())
                    .filter(running::contains)
                    .distinct()
                    .map(job -> new GrantReport(
                            new RankInstance(new RankId(job, 0), 7, 7),
                            Share.ALL,
                            Optional.empty(),
                            0,
                            0,
                            MemoryBytes.ZERO))
                    .toList();
            LedgerReport report = new LedgerReport(
                    ledger.wanted(),
                    ledger.inForce(),
                    ledger.isOverBudget(),
                    grants,
                    KeeperCounts.NONE,
                    Optional.empty(),
                    Optional.of(kept()));
            return new LimitsReported(node, info.id(), Optional.of(token), 1, report);
        }

        List<ReservationReport> kept() {
            return ledger.reservations().stream()
                    .map(held -> new ReservationReport(held.reservation(), held.committed()))
                    .toList();
        }

        DeviceSampled sample() {
            MemoryBytes all = ledger.wanted().allocatable();
            MemoryUse memory = new MemoryUse(all, Optional.of(MemoryBytes.ZERO), used, all.minusOrZero(used));
            return new DeviceSampled(node, info.id(), 10, Optional.of(memory), Optional.of(used), List.of(), List.of());
        }
    }

    /** Nodes of so many empty devices each. */
    static VirtualCluster of(Share reserve, MemoryBytes memory, int... devicesOfNodes) {
        VirtualCluster cluster = new VirtualCluster();
        for (int node = 0; node < devicesOfNodes.length; node++) {
            for (int i = 0; i < devicesOfNodes[node]; i++) {
                cluster.add("node-" + node, i, memory, reserve, MemoryBytes.ZERO);
            }
        }
        return cluster;
    }

    /** @param foreign what is used there by somebody who is no rank */
    void add(String node, int index, MemoryBytes memory, Share reserve, MemoryBytes foreign) {
        DeviceId id = new DeviceId("GPU-" + node + "-" + index);
        add(
                node,
                new DeviceInfo(id, index, "H100-80G", DeviceKind.SIMULATED, Optional.empty()),
                memory,
                reserve,
                foreign);
    }

    void add(String node, DeviceInfo info, MemoryBytes memory, Share reserve, MemoryBytes foreign) {
        devices.put(info.id(), new Device(new NodeId(node), info, new BudgetTerms(memory, reserve, foreign)));
    }

    void hears(String device, boolean hears) {
        device(device).hears = hears;
    }

    /** What a node says of its host from now on. */
    void host(String node, int cpus, MemoryBytes memory) {
        HostCapacity all = new HostCapacity(OptionalInt.of(cpus * 1000), Optional.of(memory), Optional.of(memory));
        hosts.put(new NodeId(node), all);
    }

    /** Of a worker that is older, or cannot tell. */
    void hostIsUnknown(String node) {
        hosts.remove(new NodeId(node));
    }

    /** The ranks of a job are there, and each uses so much of its host. */
    void starts(String job, MemoryBytes ofHost) {
        running.put(new JobId(job), ofHost);
    }

    private HostCapacity nowOn(NodeId node, HostCapacity all) {
        MemoryBytes used = partsOn(node)
                .map(held -> HostAmount.of(
                                new HostNeed(
                                        Optional.ofNullable(running.get(
                                                        held.reservation().id().job()))
                                                .filter(bytes -> !bytes.isZero()),
                                        OptionalInt.empty()),
                                held.part().ranks())
                        .memory())
                .reduce(MemoryBytes.ZERO, MemoryBytes::plus);
        return new HostCapacity(all.cpuMilli(), all.memory(), all.available().map(bytes -> bytes.minusOrZero(used)));
    }

    /** What ledgers of a node's devices keep. */
    private Stream<HeldPart> partsOn(NodeId node) {
        return devices.values().stream()
                .filter(device -> device.node.equals(node))
                .flatMap(device -> device.kept().stream()
                        .map(held -> new HeldPart(
                                held.reservation(),
                                held.reservation().part(device.info.id()).orElseThrow(),
                                held.committed())));
    }

    private record HeldPart(Reservation reservation, ReservedPart part, boolean committed) {}

    /**
     * What the jobs that may run on a node asked of its host. What nobody has committed runs nothing; a real ledger
     * drops it by itself when the device does not hear that it was given up.
     */
    HostAmount askedOf(String node) {
        return partsOn(new NodeId(node))
                .filter(HeldPart::committed)
                .map(held -> HostAmount.of(
                        held.reservation().host().orElse(HostNeed.NONE),
                        held.part().ranks()))
                .reduce(HostAmount.NONE, HostAmount::plus);
    }

    /** With what each rank asks of its host. */
    static JobRequest on(JobRequest request, HostNeed each) {
        return new JobRequest(
                request.job(),
                request.submitter(),
                request.priority(),
                request.groups(),
                request.ranksPerDevice(),
                request.wanted().with(each),
                request.runsForMillis());
    }

    void readings(String device, SampleState state) {
        device(device).readings = state;
    }

    private Device device(String id) {
        return Optional.ofNullable(devices.get(new DeviceId(id))).orElseThrow();
    }

    /** The worker came back with another ledger. */
    void loseLedger(String device) {
        Device lost = device(device);
        lost.ledger = DeviceLedger.open(new LedgerEvent.Opened(lost.info.id(), lost.ledger.wanted()));
    }

    /** Another coordinator takes over and knows nothing; submitters have not said anything to it yet. */
    void failOver() {
        token = new CoordinatorToken(token.epoch() + 1, "next");
        desk = new AdmissionDesk(settings);
        view = ClusterView.EMPTY;
        report();
    }

    static JobRequest request(String job, int ranks, MemoryBytes each) {
        return request(job, Priority.MEDIUM, List.of(RankGroup.ofMemory(ranks, each)), OptionalLong.empty());
    }

    static JobRequest share(String job, int ranks, Share each) {
        return request(job, Priority.MEDIUM, List.of(RankGroup.ofShare(ranks, each)), OptionalLong.empty());
    }

    static JobRequest request(String job, Priority priority, List<RankGroup> groups, OptionalLong runsForMillis) {
        return new JobRequest(
                new JobId(job), "submitter-of-" + job, priority, groups, 1, JobRequest.Wanted.ANY, runsForMillis);
    }

    static JobRequest spread(JobRequest request, Extent extent) {
        return new JobRequest(
                request.job(),
                request.submitter(),
                request.priority(),
                request.groups(),
                request.ranksPerDevice(),
                request.wanted().with(extent),
                request.runsForMillis());
    }

    /** One rank on a device of that model. */
    static JobRequest wanting(String job, String model) {
        JobRequest.Wanted wanted = new JobRequest.Wanted(
                Extent.FEW_NODES, Optional.empty(), Optional.of(model), Optional.empty(), JobRequest.HostNeed.NONE);
        List<RankGroup> one = List.of(RankGroup.ofMemory(1, MemoryBytes.ofGibibytes(1)));
        return new JobRequest(
                new JobId(job), "submitter-of-" + job, Priority.MEDIUM, one, 1, wanted, OptionalLong.empty());
    }

    /** Says it now and, as long as it is not cancelled, every two seconds. */
    ToOperator submit(JobRequest request) {
        report();
        SubmitRequest message = new SubmitRequest(request, 0, false, OPERATOR);
        ToOperator answer = desk.submit(message, cluster(), now);
        if (!(answer instanceof RequestRefused)) {
            submitters.put(request.job(), message);
        }
        return answer;
    }

    ToOperator say(JobRequest request, long waitedMillis, boolean running) {
        return desk.submit(new SubmitRequest(request, waitedMillis, running, OPERATOR), cluster(), now);
    }

    /** It runs, in the room that it was told of by this name. */
    ToOperator runsIn(JobRequest request, Optional<String> room) {
        return runsIn(request, room, OptionalLong.empty());
    }

    /** The same, for so long by its submitter's clock. */
    ToOperator runsIn(JobRequest request, Optional<String> room, OptionalLong ranMillis) {
        return desk.submit(new SubmitRequest(request, 0, true, OPERATOR, room, ranMillis), cluster(), now);
    }

    void falls(String job) {
        submitters.remove(new JobId(job));
    }

    void ends(String job) {
        submitters.remove(new JobId(job));
        desk.cancel(new JobId(job), true, now);
    }

    Cluster cluster() {
        return new Cluster(view, token, draining, (device, than) -> RoomToMake.NONE);
    }

    /** One look of the desk. */
    void tick() {
        now = now.plus(TICK);
        report();
        if (now.toEpochMilli() % 2_000 == 0) {
            submitters.values().forEach(message -> desk.submit(message, cluster(), now));
        }
        AdmissionDesk.Turn turn = desk.tick(cluster(), now);
        changes.addAll(turn.changes());
        for (Send send : turn.sends()) {
            Device device = Optional.ofNullable(devices.get(send.device())).orElseThrow();
            if (device.hears) {
                device.does(token, send)
                        .ifPresent(reason -> desk.refused(
                                new ReservationRefused(
                                        device.node,
                                        send.device(),
                                        send.reservation().id(),
                                        reason),
                                now));
            }
        }
    }

    void ticks(int count) {
        for (int i = 0; i < count; i++) {
            tick();
        }
    }

    void passes(Duration duration) {
        ticks(Math.toIntExact(duration.dividedBy(TICK)));
    }

    private void report() {
        Map<NodeId, List<DeviceInfo>> nodes = new LinkedHashMap<>();
        devices.values().forEach(device -> nodes.computeIfAbsent(device.node, node -> new ArrayList<>())
                .add(device.info));
        nodes.forEach((node, infos) -> {
            Optional<HostCapacity> host = Optional.ofNullable(hosts.get(node)).map(all -> nowOn(node, all));
            WorkerAnnounced announced = new WorkerAnnounced(
                    node, Protocol.VERSION, Optional.of(token), infos, Optional.empty(), host, WORKER);
            view = view.with(announced, now);
        });
        for (Device device : devices.values()) {
            view = view.with(
                    new DeviceWatched(device.node, device.info.id(), new SampleQuality(device.readings, 0)), now);
            if (device.hears) {
                view = view.with(device.report(token, running.navigableKeySet()), now)
                        .with(device.sample(), now);
            }
        }
    }

    RequestState state(String job) {
        Requests requests = desk.requests(Optional.of(new JobId(job)), cluster(), now);
        assertThat(requests.states()).as("the request of job %s", job).hasSize(1);
        return requests.states().get(0);
    }

    Requests first(int most) {
        return desk.firstRequests(most, cluster(), now);
    }

    OptionalLong ranMillis(String job) {
        return desk.requests(Optional.of(new JobId(job)), cluster(), now).ranMillis();
    }

    Optional<String> room(String job) {
        return desk.requests(Optional.of(new JobId(job)), cluster(), now).room();
    }

    List<RequestState> states() {
        return desk.requests(Optional.empty(), cluster(), now).states();
    }

    /** In the order of their names. */
    List<String> in(String state) {
        return states().stream()
                .filter(request -> request.state().equals(state))
                .map(request -> request.request().job().value())
                .sorted()
                .toList();
    }

    List<String> placed() {
        return in(RequestState.PLACED);
    }

    /** The waiting ones, the first first. */
    List<String> waiting() {
        return states().stream()
                .filter(request -> request.state().equals(RequestState.WAITING))
                .map(request -> request.request().job().value())
                .toList();
    }

    /** How many jobs each device keeps something for, in the order of the devices. */
    List<Integer> jobsOnDevices() {
        return devices.values().stream().map(device -> device.kept().size()).toList();
    }

    /** Jobs that some ledgers keep a part for. */
    NavigableSet<String> jobsWithAPart(Predicate<ReservationReport> which) {
        NavigableSet<String> jobs = new TreeSet<>();
        devices.values().forEach(device -> device.kept().stream()
                .filter(which)
                .forEach(report -> jobs.add(report.reservation().id().job().value())));
        return jobs;
    }

    /** Whether every job that a ledger keeps something for has all of its parts. */
    boolean isAllOrNone() {
        for (Device device : devices.values()) {
            for (ReservationReport report : device.kept()) {
                boolean isWhole = report.reservation().parts().stream()
                        .allMatch(part -> device(part.device().value()).kept().stream()
                                .anyMatch(other -> other.reservation()
                                        .id()
                                        .equals(report.reservation().id())));
                if (!isWhole) {
                    return false;
                }
            }
        }
        return true;
    }
}
