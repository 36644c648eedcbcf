package dev.ullage.cli.node;

import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.config.SettingsException;
import dev.ullage.config.SettingsFlag;
import dev.ullage.config.SettingsLoader;
import dev.ullage.config.UllageSettings;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What {@code up}, {@code coordinator} and {@code worker} have in common: settings, start, ready line, orderly end. */
abstract class NodeCommand implements Callable<Integer> {
    private static final Duration READY_WITHIN = Duration.ofSeconds(60);

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Settings file (HOCON); config/examples has some. Flags go before it.")
    @Nullable
    Path config;

    @Option(
            names = "--state",
            paramLabel = "DIR",
            description = "State folder: ledgers, rank socket, operator's token.")
    @Nullable
    String state;

    @Option(names = "--node", paramLabel = "NAME", description = "This node's name. Default: the host's name.")
    @Nullable
    String node;

    @Option(
            names = "--cluster-port",
            paramLabel = "PORT",
            description = "Port for the other nodes of the cluster; 0: any free one.")
    @Nullable
    String clusterPort;

    private final CliEnvironment environment;
    private final Set<UllageNode.Role> roles;

    NodeCommand(CliEnvironment environment, Set<UllageNode.Role> roles) {
        this.environment = environment;
        this.roles = roles;
    }

    /** The flags of this command as settings. */
    abstract List<SettingsFlag> flags();

    List<SettingsFlag> commonFlags() {
        List<SettingsFlag> flags = new ArrayList<>();
        add(flags, "--state", "ullage.node.state-dir", state);
        add(flags, "--node", "ullage.node.name", node);
        add(flags, "--cluster-port", "ullage.cluster.port", clusterPort);
        return flags;
    }

    static void add(List<SettingsFlag> flags, String flag, String key, @Nullable String value) {
        if (value != null) {
            flags.add(new SettingsFlag(flag, key, value));
        }
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure, InterruptedException {
        UllageSettings settings = SettingsLoader.load(Optional.ofNullable(config), flags(), environment.variables());
        CountDownLatch end = new CountDownLatch(1);
        AtomicBoolean lost = new AtomicBoolean();
        Runnable onLost = () -> {
            lost.set(true);
            end.countDown();
        };
        CountDownLatch closed = new CountDownLatch(1);
        endOnSignal(end, closed);
        try (UllageNode running = UllageNode.start(settings, roles, new SteadyClock(), onLost)) {
            boolean ready = running.awaitReady(READY_WITHIN, end);
            if (end.getCount() > 0) {
                announce(running, settings, ready);
            }
            end.await();
        } finally {
            end.countDown();
            closed.countDown();
        }
        return (lost.get() ? ExitCode.STATE_UNUSABLE : ExitCode.OK).code();
    }

    /** Lets SIGTERM and SIGINT end the node in order, also while it starts, with exit code 0 when that worked. */
    private static void endOnSignal(CountDownLatch end, CountDownLatch closed) {
        Thread hook = new Thread(
                () -> {
                    boolean signalled = end.getCount() > 0;
                    end.countDown();
                    try {
                        closed.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    if (signalled) {
                        Runtime.getRuntime().halt(ExitCode.OK.code());
                    }
                },
                "orderly-end");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void announce(UllageNode running, UllageSettings settings, boolean ready) {
        PrintWriter out = environment.out();
        Duration sinceStart =
                Duration.ofMillis(ManagementFactory.getRuntimeMXBean().getUptime());
        out.printf(
                "ullage: node %s is %s (%.1f s)%n",
                settings.node().nodeName(),
                ready ? "ready" : "up, but no coordinator answers yet",
                sinceStart.toMillis() / 1000.0);
        out.printf("  cluster      %s%n", running.clusterAddress());
        running.httpAddress()
                .ifPresent(address -> out.printf(
                        "  API          %s://%s:%d   (ullage status --server ...)%n",
                        settings.http().access().tls().isPresent() ? "https" : "http",
                        address.getHostString(),
                        address.getPort()));
        running.rankSocket().ifPresent(socket -> {
            out.printf("  rank socket  %s%n", socket);
            out.printf("  ranks        export ULLAGE_SOCKET=%s%n", socket);
            pythonPath().ifPresent(path -> out.printf("               export PYTHONPATH=%s%n", path));
            out.println("               torchrun --no_python --nproc_per_node N"
                    + " python3 -m ullage exec -- python3 train.py");
        });
        out.flush();
    }

    /** Where this distribution keeps the rank client. */
    private static Optional<Path> pythonPath() {
        return Optional.ofNullable(System.getProperty("ullage.home")).map(home -> Path.of(home, "python"));
    }
}
