package dev.ullage.cli.node;

import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.ClusterTls;
import dev.ullage.config.Durations;
import dev.ullage.config.NodeAddress;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.config.UllageSettings;
import dev.ullage.coordinator.CoordinatorActor;
import dev.ullage.coordinator.http.HttpApi;
import dev.ullage.coordinator.http.OperatorToken;
import dev.ullage.coordinator.journal.DecisionCounts;
import dev.ullage.coordinator.journal.DecisionFile;
import dev.ullage.coordinator.journal.DecisionSink;
import dev.ullage.coordinator.metrics.MetricsPage;
import dev.ullage.coordinator.planning.RankDemands;
import dev.ullage.coordinator.planning.predict.PredictorUnavailableException;
import dev.ullage.coordinator.prediction.InstalledDemands;
import dev.ullage.worker.CoordinatorLink;
import dev.ullage.worker.DeviceSource;
import dev.ullage.worker.WorkerHub;
import dev.ullage.worker.WorkerRuntime;
import dev.ullage.worker.WorkerStartException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.SupervisorStrategy;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.cluster.typed.ClusterSingleton;
import org.apache.pekko.cluster.typed.ClusterSingletonSettings;
import org.apache.pekko.cluster.typed.SingletonActor;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running node: coordinator, worker or both in one process. The worker's devices, ledgers and ranks live on an
 * ActorSystem of their own and outlive every cluster membership; coordinator, API and the link to the worker are made
 * anew with each.
 */
public final class UllageNode implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UllageNode.class);
    /** A port that is taken is known at once; what takes longer is a machine with other work, which will get to it. */
    private static final Duration HTTP_WITHIN = Duration.ofMinutes(2);

    private static final Duration ASK_WITHIN = Duration.ofMillis(500);
    private static final Duration READY_POLL = Duration.ofMillis(20);
    /** A coordinator that failed starts again with nothing: it learns from the workers. */
    private static final Duration RESTART_AFTER = Duration.ofMillis(200);

    private static final Duration RESTART_AFTER_AT_MOST = Duration.ofSeconds(10);
    private static final double RESTART_JITTER = 0.2;
    private static final String SINGLETON = "coordinator";

    /** What a node does. */
    public enum Role {
        COORDINATOR,
        WORKER
    }

    private final UllageSettings settings;
    private final Set<Role> roles;
    private final Clock clock;
    private final Optional<WorkerRuntime> worker;
    private final Optional<OperatorToken> token;
    private final CompletableFuture<InetSocketAddress> http = new CompletableFuture<>();
    private final Optional<DecisionFile> decisions;
    private final Supplier<RankDemands> demands;
    private final MetricsPage metrics;
    private final LonelySeed.Patience alone = LonelySeed.Patience.of(LonelySeed.AFTER);
    private final ClusterMembership membership;
    private volatile @Nullable ActorRef<ToCoordinator> coordinator;

    private UllageNode(
            UllageSettings settings,
            Set<Role> roles,
            Clock clock,
            Optional<WorkerRuntime> worker,
            Optional<OperatorToken> token,
            Supplier<RankDemands> demands) {
        this.settings = settings;
        this.roles = Set.copyOf(roles);
        this.clock = clock;
        this.worker = worker;
        this.token = token;
        this.demands = demands;
        this.decisions =
                roles.contains(Role.COORDINATOR) && settings.decisionLog().enabled()
                        ? Optional.of(DecisionFile.start(settings.node().stateDir(), settings.decisionLog()))
                        : Optional.empty();
        this.metrics = new MetricsPage(
                settings.http().dcgmAliases(),
                () -> decisions.map(DecisionFile::counts).orElse(DecisionCounts.NONE));
        Set<String> names = new TreeSet<>();
        roles.forEach(role ->
                names.add(role == Role.COORDINATOR ? ClusterConfig.COORDINATOR_ROLE : ClusterConfig.WORKER_ROLE));
        this.membership = ClusterMembership.start(
                ClusterConfig.SYSTEM_NAME,
                ClusterConfig.toPekkoConfig(settings, names),
                ClusterConfig.mustJoinItself(settings.cluster()),
                this::guardian);
    }

    /**
     * Starts a node; on failure nothing is left running.
     *
     * @param onLost the worker can no longer keep its promises safe on disk: this process must end
     */
    public static UllageNode start(UllageSettings settings, Set<Role> roles, Clock clock, Runnable onLost)
            throws CommandFailure {
        requireWritable(settings.node().stateDir());
        requireCertificates(settings, clock);
        Supplier<RankDemands> demands = demands(settings, roles);
        Optional<OperatorToken> token = Optional.empty();
        Optional<WorkerRuntime> worker = Optional.empty();
        try {
            if (roles.contains(Role.WORKER)) {
                worker = Optional.of(startWorker(settings, clock, onLost));
            }
            if (roles.contains(Role.COORDINATOR)) {
                token = Optional.of(OperatorToken.loadOrCreate(settings.node().stateDir()));
            }
            UllageNode node = new UllageNode(settings, roles, clock, worker, token, demands);
            if (roles.contains(Role.COORDINATOR)) {
                node.awaitHttp();
            }
            return node;
        } catch (IOException e) {
            worker.ifPresent(WorkerRuntime::close);
            throw new CommandFailure(ExitCode.STATE_UNUSABLE, String.valueOf(e.getMessage()), e);
        } catch (CommandFailure e) {
            worker.ifPresent(WorkerRuntime::close);
            throw e;
        } catch (RuntimeException e) {
            worker.ifPresent(WorkerRuntime::close);
            throw clusterFailure(settings, e);
        }
    }

    private static void requireWritable(Path stateDir) throws CommandFailure {
        try {
            Files.createDirectories(stateDir);
            Files.delete(Files.createTempFile(stateDir, "probe", ".tmp"));
        } catch (IOException e) {
            throw new CommandFailure(
                    ExitCode.STATE_UNUSABLE,
                    "state folder " + stateDir + " cannot be written: "
                            + e.getClass().getSimpleName() + " " + e.getMessage()
                            + "; choose another one with --state",
                    e);
        }
    }

    /** What the predictor of the settings runs on is looked for before anything starts. */
    private static Supplier<RankDemands> demands(UllageSettings settings, Set<Role> roles) throws CommandFailure {
        ObservedPredictor predictor = settings.limits().policies().observed().predictor();
        try {
            // A worker that does not coordinate asks no predictor.
            return InstalledDemands.open(roles.contains(Role.COORDINATOR) ? predictor : ObservedPredictor.PHASE_MAX);
        } catch (PredictorUnavailableException e) {
            throw new CommandFailure(
                    ExitCode.BAD_SETTINGS,
                    "ullage.limits.policies.observed.predictor = " + predictor + ": " + e.getMessage(),
                    e);
        }
    }

    private static void requireCertificates(UllageSettings settings, Clock clock) throws CommandFailure {
        Optional<ClusterTls> tls = settings.cluster().tls();
        try {
            if (tls.isPresent()) {
                tls.get().check(clock.instant());
            }
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.BAD_SETTINGS, String.valueOf(e.getMessage()), e);
        }
    }

    private static WorkerRuntime startWorker(UllageSettings settings, Clock clock, Runnable onLost)
            throws CommandFailure {
        NodeId node = new NodeId(settings.node().nodeName());
        try {
            WorkerRuntime.Devices devices = DeviceSource.open(settings.worker().devices(), node);
            WorkerRuntime.Setup setup = new WorkerRuntime.Setup(
                    node,
                    settings.node().stateDir(),
                    DeviceSource.lockDir(settings.worker().devices()),
                    settings.worker(),
                    settings.limits().reserve(),
                    devices,
                    onLost);
            return WorkerRuntime.start(setup, clock);
        } catch (WorkerStartException e) {
            ExitCode code =
                    switch (e.kind()) {
                        case NO_DEVICES -> ExitCode.NO_DEVICES;
                        case DEVICE_ALREADY_OWNED -> ExitCode.REFUSED;
                        case STATE_UNUSABLE -> ExitCode.STATE_UNUSABLE;
                    };
            throw new CommandFailure(code, String.valueOf(e.getMessage()), e);
        }
    }

    private static CommandFailure clusterFailure(UllageSettings settings, RuntimeException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof BindException) {
                return new CommandFailure(
                        ExitCode.PORT_IN_USE,
                        "cannot listen on " + settings.cluster().host() + ":"
                                + settings.cluster().port() + " (ullage.cluster): " + cause.getMessage()
                                + "; is another node running? Choose another port with --cluster-port",
                        failure);
            }
        }
        return new CommandFailure(
                ExitCode.INTERNAL, "the cluster node did not start: " + failure.getMessage(), failure);
    }

    private void awaitHttp() throws CommandFailure {
        try {
            http.get(HTTP_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            membership.close();
            Throwable cause = e.getCause() == null ? e : e.getCause();
            boolean taken = cause instanceof BindException;
            throw new CommandFailure(
                    taken ? ExitCode.PORT_IN_USE : ExitCode.BAD_SETTINGS,
                    cause.getMessage() + (taken ? "; choose another port with --port" : ""),
                    cause);
        } catch (TimeoutException e) {
            membership.close();
            throw new CommandFailure(
                    ExitCode.INTERNAL,
                    "the API at %s:%d (ullage.http) did not start within %s: look at this machine's load and the log"
                            .formatted(settings.http().host(), settings.http().port(), Durations.show(HTTP_WITHIN)),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Behavior<Void> guardian() {
        return Behaviors.setup(this::startMember);
    }

    private Behavior<Void> startMember(ActorContext<Void> context) {
        NodeId node = new NodeId(settings.node().nodeName());
        Behavior<ToCoordinator> behavior = Behaviors.supervise(CoordinatorActor.create(
                        settings.coordinator(),
                        settings.limits(),
                        node,
                        () -> UUID.randomUUID().toString(),
                        clock,
                        decisions.<DecisionSink>map(file -> file).orElse(DecisionSink.NONE),
                        demands))
                .onFailure(SupervisorStrategy.restartWithBackoff(RESTART_AFTER, RESTART_AFTER_AT_MOST, RESTART_JITTER));
        SingletonActor<ToCoordinator> singleton = SingletonActor.of(behavior, SINGLETON)
                .withSettings(
                        ClusterSingletonSettings.create(context.getSystem()).withRole(ClusterConfig.COORDINATOR_ROLE));
        ActorRef<ToCoordinator> proxy =
                ClusterSingleton.get(context.getSystem()).init(singleton);
        coordinator = proxy;
        worker.ifPresent(runtime -> context.spawn(link(runtime.hub(), proxy), "link"));
        if (!roles.contains(Role.COORDINATOR)) {
            context.spawn(LostCluster.create(LostCluster.AFTER), "lost-cluster");
        }
        List<NodeAddress> otherSeeds = LonelySeed.others(settings.cluster());
        if (!otherSeeds.isEmpty()) {
            context.spawn(LonelySeed.create(otherSeeds, alone), "lonely-seed");
        }
        token.ifPresent(secret -> HttpApi.start(context.getSystem(), settings.http(), proxy, node, secret, metrics)
                .whenComplete(this::onHttp));
        return Behaviors.empty();
    }

    private static Behavior<ToWorker> link(ActorRef<WorkerHub.Command> hub, ActorRef<ToCoordinator> proxy) {
        return CoordinatorLink.create(hub, proxy);
    }

    private void onHttp(@Nullable ServerBinding binding, @Nullable Throwable failure) {
        if (binding != null) {
            http.complete(binding.localAddress());
        } else if (failure != null && !http.completeExceptionally(failure)) {
            LOG.warn("reason=\"the API could not be started again: {}\"", failure.getMessage());
        }
    }

    /** Whether this node is of use: a coordinator is active, as far as this node can tell. */
    public boolean isReady() {
        ActorRef<ToCoordinator> asked = coordinator;
        if (asked == null) {
            return false;
        }
        try {
            ToOperator answer = AskPattern.<ToCoordinator, ToOperator>ask(
                            asked,
                            ToCoordinator.StatusQuery::new,
                            ASK_WITHIN,
                            membership.system().scheduler())
                    .toCompletableFuture()
                    .get(ASK_WITHIN.toMillis() * 2, TimeUnit.MILLISECONDS);
            return answer instanceof ClusterStatus status && status.state().equals("ACTIVE");
        } catch (ExecutionException | TimeoutException e) {
            LOG.debug("reason=\"no coordinator answers yet: {}\"", e.getMessage());
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * Waits until {@link #isReady()}; returns whether that came true in time.
     *
     * @param end of the waiting, however much time is left
     */
    public boolean awaitReady(Duration timeout, CountDownLatch end) throws InterruptedException {
        long deadline = clock.millis() + timeout.toMillis();
        while (clock.millis() < deadline && !end.await(READY_POLL.toMillis(), TimeUnit.MILLISECONDS)) {
            if (isReady()) {
                return true;
            }
        }
        return false;
    }

    public Set<Role> roles() {
        return roles;
    }

    /** Where the API listens, on a coordinator's node. */
    public Optional<InetSocketAddress> httpAddress() {
        return Optional.ofNullable(http.getNow(null));
    }

    /** The socket that ranks connect to, on a worker's node. */
    public Optional<Path> rankSocket() {
        return worker.map(WorkerRuntime::socket);
    }

    /** Where other nodes of the cluster reach this one. */
    public Address clusterAddress() {
        return membership.address();
    }

    /** Leaves the cluster, then stops serving ranks; they keep their limits. */
    @Override
    public void close() {
        membership.close();
        decisions.ifPresent(DecisionFile::close);
        worker.ifPresent(WorkerRuntime::close);
    }
}
