package dev.ullage.worker;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Share;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.WorkerSettings;
import dev.ullage.worker.WorkerStartException.Kind;
import dev.ullage.worker.limits.FileLedgerStore;
import dev.ullage.worker.limits.LedgerStore;
import dev.ullage.worker.limits.LimitKeeper;
import dev.ullage.worker.probe.GpuProbe;
import dev.ullage.worker.ranks.ProcProcessTable;
import dev.ullage.worker.ranks.RankDevices;
import dev.ullage.worker.ranks.RankPort;
import dev.ullage.worker.ranks.RankServer;
import dev.ullage.worker.ranks.RankSessions;
import dev.ullage.worker.sampling.Sampler;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.concurrent.Await;

/**
 * A running worker: locks, ledgers, device owners and the rank socket, on an ActorSystem of its own that knows nothing
 * of any cluster. Memberships come and go through {@link #hub()}; no rank notices.
 */
public final class WorkerRuntime implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerRuntime.class);
    private static final Duration ANNOUNCE_EVERY = Duration.ofSeconds(1);
    private static final Duration STOP_WITHIN = Duration.ofSeconds(10);
    private static final String SOCKET_NAME = "ranks.sock";

    private final OwnershipLocks locks;
    private final GpuProbe probe;
    private final ActorSystem<WorkerHub.Command> system;
    private final RankServer server;

    private WorkerRuntime(
            OwnershipLocks locks, GpuProbe probe, ActorSystem<WorkerHub.Command> system, RankServer server) {
        this.locks = locks;
        this.probe = probe;
        this.system = system;
        this.server = server;
    }

    /**
     * What a worker needs.
     *
     * @param lockDir where real devices are locked host-wide
     * @param reserve of a ledger that does not exist yet; an existing one keeps its own
     * @param onKeeperLost a ledger can no longer be written: stop this process
     */
    public record Setup(
            NodeId node,
            Path stateDir,
            Path lockDir,
            WorkerSettings settings,
            Share reserve,
            Devices devices,
            Runnable onKeeperLost) {}

    /** The probe, and what is done about the use of devices that cannot measure by themselves. */
    public record Devices(GpuProbe probe, RankSessions.UseListener useListener) {}

    /** A device with its ledger as the file says it. */
    private record Opened(DeviceInfo info, LedgerStore store, DeviceLedger ledger) {}

    /** Starts a worker or says why it cannot; on failure nothing is left behind. */
    public static WorkerRuntime start(Setup setup, Clock clock) throws WorkerStartException {
        OwnershipLocks locks = new OwnershipLocks();
        List<Opened> opened = new ArrayList<>();
        try {
            locks.lockState(setup.stateDir());
            for (DeviceInfo device : setup.devices().probe().devices()) {
                locks.lockDevice(device, setup.lockDir());
                opened.add(openLedger(setup, device));
            }
            return started(setup, clock, locks, opened);
        } catch (IOException e) {
            abandon(locks, opened);
            throw new WorkerStartException(
                    Kind.STATE_UNUSABLE, "state folder " + setup.stateDir() + " cannot be used: " + e.getMessage(), e);
        } catch (WorkerStartException e) {
            abandon(locks, opened);
            throw e;
        }
    }

    private static Opened openLedger(Setup setup, DeviceInfo device) throws IOException {
        Path file = setup.stateDir().resolve(OwnershipLocks.fileName(device.id()) + ".ledger");
        LedgerStore store = FileLedgerStore.open(file);
        try {
            return openLedger(setup, device, store);
        } catch (IOException e) {
            store.close();
            throw e;
        } catch (IllegalArgumentException | IllegalStateException e) {
            store.close();
            throw new IOException("ledger file " + file + " contradicts itself: " + e.getMessage(), e);
        }
    }

    private static Opened openLedger(Setup setup, DeviceInfo device, LedgerStore store) throws IOException {
        List<LedgerEvent> past = store.replay();
        if (past.isEmpty()) {
            DeviceReading reading = setup.devices().probe().read(device.id());
            reading.problems().forEach(problem -> LOG.warn("device={} reason=\"{}\"", device.id(), problem));
            MemoryBytes allocatable =
                    reading.memory().map(MemoryUse::allocatable).orElse(MemoryBytes.ZERO);
            LedgerEvent first = new LedgerEvent.Opened(
                    device.id(), new BudgetTerms(allocatable, setup.reserve(), MemoryBytes.ZERO));
            store.append(List.of(first));
            return new Opened(device, store, DeviceLedger.open(first));
        }
        DeviceLedger ledger = DeviceLedger.open(past.get(0));
        for (LedgerEvent event : past.subList(1, past.size())) {
            ledger = ledger.apply(event);
        }
        if (!ledger.device().equals(device.id())) {
            throw new IOException("the ledger of " + device.id() + " is one of " + ledger.device());
        }
        LOG.info(
                "device={} events={} grants={} ceilings=\"{}\" reason=\"ledger replayed\"",
                device.id(),
                past.size(),
                ledger.grants().size(),
                ledger.ceilings());
        return new Opened(device, store, ledger);
    }

    private static WorkerRuntime started(Setup setup, Clock clock, OwnershipLocks locks, List<Opened> opened)
            throws IOException {
        WorkerSettings settings = setup.settings();
        RankPort port = new RankPort(setup.node(), new ProcProcessTable(Path.of("/proc")), clock, settings.maxRanks());
        List<WorkerHub.DeviceSetup> devices = opened.stream()
                .map(device -> new WorkerHub.DeviceSetup(
                        device.info(),
                        device.ledger().grants().stream().map(Grant::instance).toList(),
                        uplink -> LimitKeeper.create(new LimitKeeper.Setup(
                                setup.node(),
                                device.store(),
                                device.ledger(),
                                uplink,
                                settings.tick(),
                                settings.resendAfter(),
                                clock))))
                .toList();
        WorkerHub.Setup hub = new WorkerHub.Setup(
                setup.node(),
                devices,
                context -> sessions(port, setup, context),
                ANNOUNCE_EVERY,
                settings.processCheck(),
                setup.onKeeperLost());
        ActorSystem<WorkerHub.Command> system =
                ActorSystem.create(WorkerHub.create(hub), "ullage-worker", ClusterConfig.localConfig());
        try {
            return serving(setup, port, system, locks);
        } catch (IOException e) {
            terminate(system);
            throw e;
        }
    }

    private static WorkerRuntime serving(
            Setup setup, RankPort port, ActorSystem<WorkerHub.Command> system, OwnershipLocks locks)
            throws IOException {
        GpuProbe probe = setup.devices().probe();
        ConcurrentMap<DeviceId, MemoryUse> newest = new ConcurrentHashMap<>();
        for (DeviceInfo device : probe.devices()) {
            probe.read(device.id()).memory().ifPresent(memory -> newest.put(device.id(), memory));
        }
        RankServer server = port.open(
                setup.stateDir().resolve(SOCKET_NAME),
                new RankDevices(probe.devices(), probe.driverFacts()),
                device -> Optional.ofNullable(newest.get(device.id())),
                event -> system.tell(new WorkerHub.ForSessions(event)));
        system.systemActorOf(
                Sampler.create(probe, setup.settings().sampleInterval(), (device, reading) -> {
                    reading.memory().ifPresent(memory -> newest.put(device, memory));
                    system.tell(new WorkerHub.Sampled(device, reading));
                }),
                "sampler",
                WorkerHub.BLOCKING);
        LOG.info(
                "node={} devices={} socket={} probe=\"{}\" reason=\"worker started\"",
                setup.node(),
                probe.devices().size(),
                server.path(),
                probe.description());
        return new WorkerRuntime(locks, probe, system, server);
    }

    private static RankSessions sessions(RankPort port, Setup setup, ActorContext<WorkerHub.Command> context) {
        ActorRef<WorkerHub.Command> hub = context.getSelf();
        return port.sessions(
                new ContextSpawner(context),
                setup.devices().useListener(),
                event -> hub.tell(new WorkerHub.ForSessions(event)));
    }

    private static void abandon(OwnershipLocks locks, List<Opened> opened) {
        for (Opened device : opened) {
            try {
                device.store().close();
            } catch (IOException e) {
                LOG.debug(
                        "device={} reason=\"ledger did not close: {}\"",
                        device.info().id(),
                        e.getMessage());
            }
        }
        locks.close();
    }

    /** Where a cluster membership reports to ({@link CoordinatorLink}). */
    public ActorRef<WorkerHub.Command> hub() {
        return system;
    }

    /** The socket that ranks connect to. */
    public Path socket() {
        return server.path();
    }

    /** Stops serving: ranks keep their limits, ledgers are closed, locks are given up. */
    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            LOG.debug("reason=\"the rank socket did not close: {}\"", e.getMessage());
        }
        terminate(system);
        probe.close();
        locks.close();
    }

    private static void terminate(ActorSystem<WorkerHub.Command> system) {
        system.terminate();
        try {
            Await.ready(
                    system.whenTerminated(),
                    scala.concurrent.duration.Duration.create(STOP_WITHIN.toMillis(), TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            LOG.warn("reason=\"the worker did not stop within {}\"", STOP_WITHIN);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
