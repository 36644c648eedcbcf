package dev.ullage.worker;

import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Share;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.WorkerSettings;
import dev.ullage.worker.WorkerStartException.Kind;
import dev.ullage.worker.enforcement.CeilingAlarm;
import dev.ullage.worker.host.HostReader;
import dev.ullage.worker.host.HostWatch;
import dev.ullage.worker.probe.DriverLimits;
import dev.ullage.worker.probe.GpuProbe;
import dev.ullage.worker.ranks.ProcProcessTable;
import dev.ullage.worker.ranks.RankAccountKeeper;
import dev.ullage.worker.ranks.RankDevices;
import dev.ullage.worker.ranks.RankPort;
import dev.ullage.worker.ranks.RankServer;
import dev.ullage.worker.ranks.RankSessions;
import dev.ullage.worker.rungs.Enforcer;
import dev.ullage.worker.sampling.DeviceReaders;
import dev.ullage.worker.sampling.Sampler;
import dev.ullage.worker.sampling.SamplingSchedule;
import dev.ullage.worker.turns.TurnDesk;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.DispatcherSelector;
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
    private static final int ROUNDS_PER_SCAN = 10;
    private static final Duration SCAN_AT_MOST_EVERY = Duration.ofSeconds(5);
    private static final Duration STOP_WITHIN = Duration.ofSeconds(10);
    private static final Path PROC = Path.of("/proc");
    private static final String SOCKET_NAME = "ranks.sock";
    private static final String CGROUPS = "cgroups";

    private final OwnershipLocks locks;
    private final DeviceReaders readers;
    private final ActorSystem<WorkerHub.Command> system;
    private final RankServer server;
    private final RankAccountKeeper accounts;

    private WorkerRuntime(
            OwnershipLocks locks,
            DeviceReaders readers,
            ActorSystem<WorkerHub.Command> system,
            RankServer server,
            RankAccountKeeper accounts) {
        this.locks = locks;
        this.readers = readers;
        this.system = system;
        this.server = server;
        this.accounts = accounts;
    }

    /**
     * What a worker needs.
     *
     * @param lockDir where real devices are locked host-wide
     * @param reserve of a ledger that does not exist yet; an existing one keeps its own
     * @param onLost a ledger can no longer be written, or ranks no longer be served: stop this process
     */
    public record Setup(
            NodeId node,
            Path stateDir,
            Path lockDir,
            WorkerSettings settings,
            Share reserve,
            Devices devices,
            Runnable onLost) {}

    /** The probe, and what is done about the use of devices that cannot measure by themselves. */
    public record Devices(GpuProbe probe, RankSessions.UseListener useListener) {}

    /** Starts a worker or says why it cannot; on failure nothing is left behind. */
    public static WorkerRuntime start(Setup setup, Clock clock) throws WorkerStartException {
        OwnershipLocks locks = new OwnershipLocks();
        DeviceReaders readers = new DeviceReaders(
                setup.devices().probe(), PROC, setup.settings().sampleInterval(), clock);
        TurnDesk turns = new TurnDesk(setup.settings().turnDeadline(), clock);
        DeviceRoster roster = new DeviceRoster(setup, locks, readers, turns, clock);
        try {
            locks.lockState(setup.stateDir());
            roster.openAll(setup.devices().probe().devices());
            return started(setup, clock, locks, roster, turns);
        } catch (IOException e) {
            roster.abandon();
            throw new WorkerStartException(
                    Kind.STATE_UNUSABLE, "state folder " + setup.stateDir() + " cannot be used: " + e.getMessage(), e);
        } catch (WorkerStartException e) {
            roster.abandon();
            throw e;
        }
    }

    private static WorkerRuntime started(
            Setup setup, Clock clock, OwnershipLocks locks, DeviceRoster roster, TurnDesk turns) throws IOException {
        WorkerSettings settings = setup.settings();
        WishFile wishes = new WishFile(setup.stateDir());
        RankAccountKeeper accounts = new RankAccountKeeper(setup.stateDir(), clock);
        RankPort port = new RankPort(
                setup.node(),
                new ProcProcessTable(PROC),
                turns,
                clock,
                settings.maxRanks(),
                settings.watch(),
                accounts);
        WorkerHub.Setup hub = new WorkerHub.Setup(
                setup.node(),
                roster.opened(),
                context -> sessions(port, setup, context),
                ANNOUNCE_EVERY,
                settings.processCheck(),
                enforcement(setup),
                new CeilingAlarm.Terms(
                        settings.enforcement().alarmTolerance(),
                        settings.enforcement().alarmAfter()),
                new WorkerHub.Wishes(wishes.read(), wishes),
                HostWatch.of(new HostReader(settings.host())),
                clock,
                roster.readers().attention(),
                setup.onLost());
        ActorSystem<WorkerHub.Command> system =
                ActorSystem.create(WorkerHub.create(hub), "ullage-worker", ClusterConfig.localConfig(settings.tick()));
        try {
            RankServer server = port.open(
                    setup.stateDir().resolve(SOCKET_NAME),
                    new RankDevices(roster::present, roster.readers()::fastestFirst),
                    device -> roster.memory(device.id()),
                    event -> system.tell(new WorkerHub.ForSessions(event)),
                    setup.onLost());
            startSampling(setup, clock, system, roster);
            LOG.info(
                    "node={} devices={} socket={} probe=\"{}\" reason=\"worker started\"",
                    setup.node(),
                    roster.present().size(),
                    server.path(),
                    setup.devices().probe().description());
            return new WorkerRuntime(locks, roster.readers(), system, server, accounts);
        } catch (IOException e) {
            terminate(system);
            accounts.close();
            throw e;
        }
    }

    private static Enforcer.Setup enforcement(Setup setup) {
        Optional<DriverLimits> driver =
                setup.settings().enforcement().driver() == WorkerSettings.Enforcement.Driver.AUTO
                        ? setup.devices().probe().driverLimits()
                        : Optional.empty();
        return new Enforcer.Setup(
                PROC, WorkerHub.BLOCKING, driver, setup.stateDir().resolve(CGROUPS));
    }

    private static void startSampling(
            Setup setup, Clock clock, ActorSystem<WorkerHub.Command> system, DeviceRoster roster) {
        Sampler.Setup sampling = new Sampler.Setup(
                roster.readers(),
                roster.present().stream().map(DeviceInfo::id).toList(),
                SamplingSchedule.every(setup.settings().sampleInterval()),
                scanEvery(setup.settings().sampleInterval()),
                clock,
                samples -> {
                    samples.forEach(roster::measured);
                    system.tell(new WorkerHub.Sampled(samples));
                },
                devices ->
                        roster.update(devices, device -> system.tell(new WorkerHub.DeviceAdded(device)), system::tell));
        system.systemActorOf(Sampler.create(sampling), "sampler", DispatcherSelector.defaultDispatcher());
    }

    /** A look costs more than a reading, and no layout changes every second. */
    private static Duration scanEvery(Duration interval) {
        Duration rounds = interval.multipliedBy(ROUNDS_PER_SCAN);
        return rounds.compareTo(SCAN_AT_MOST_EVERY) < 0 ? SCAN_AT_MOST_EVERY : rounds;
    }

    private static RankSessions sessions(RankPort port, Setup setup, ActorContext<WorkerHub.Command> context) {
        ActorRef<WorkerHub.Command> hub = context.getSelf();
        return port.sessions(
                new ContextSpawner(context),
                setup.devices().useListener(),
                setup.settings().enforcement().defaultOverhead(),
                event -> hub.tell(new WorkerHub.ForSessions(event)));
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
        accounts.close();
        readers.close();
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
