package dev.ullage.cli.demo;

import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.client.ApiClient;
import dev.ullage.cli.node.SteadyClock;
import dev.ullage.cli.node.UllageNode;
import dev.ullage.cli.node.UllageNode.Role;
import dev.ullage.config.SettingsException;
import dev.ullage.config.SettingsFlag;
import dev.ullage.config.SettingsLoader;
import dev.ullage.config.UllageSettings;
import dev.ullage.coordinator.http.OperatorToken;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A cluster of two nodes in this process: coordinator and worker on the first, a second worker beside it. */
final class DemoCluster implements AutoCloseable {
    static final int DEVICES_PER_NODE = 4;
    private static final String SIMULATE = DEVICES_PER_NODE + "xH100-80G";
    private static final String ANY_PORT = "0";

    private final UllageNode first;
    private final UllageNode second;
    private final Path stateDir;

    private DemoCluster(UllageNode first, UllageNode second, Path stateDir) {
        this.first = first;
        this.second = second;
        this.stateDir = stateDir;
    }

    static DemoCluster start(Path folder) throws CommandFailure, SettingsException {
        Path stateDir = folder.resolve("a");
        UllageNode first = start("demo-a", stateDir, List.of(), Set.of(Role.COORDINATOR, Role.WORKER));
        try {
            String host = first.clusterAddress().getHost().get();
            String port = first.clusterAddress().getPort().get().toString();
            List<SettingsFlag> join = List.of(new SettingsFlag("demo", "ullage.cluster.seed-nodes", host + ":" + port));
            UllageNode second = start("demo-b", folder.resolve("b"), join, Set.of(Role.WORKER));
            return new DemoCluster(first, second, stateDir);
        } catch (CommandFailure | SettingsException e) {
            first.close();
            throw e;
        }
    }

    private static UllageNode start(String name, Path stateDir, List<SettingsFlag> more, Set<Role> roles)
            throws CommandFailure, SettingsException {
        List<SettingsFlag> flags = new ArrayList<>(List.of(
                new SettingsFlag("demo", "ullage.node.name", name),
                new SettingsFlag("demo", "ullage.node.state-dir", stateDir.toString()),
                new SettingsFlag("demo", "ullage.cluster.port", ANY_PORT),
                new SettingsFlag("demo", "ullage.http.port", ANY_PORT),
                new SettingsFlag("demo", "ullage.worker.devices.simulate", SIMULATE)));
        flags.addAll(more);
        UllageSettings settings = SettingsLoader.load(Optional.empty(), flags, Map.of());
        return UllageNode.start(settings, roles, new SteadyClock(), () -> {});
    }

    /** The API, as any other user reaches it. */
    ApiClient api() {
        InetSocketAddress address = first.httpAddress().orElseThrow();
        return new ApiClient(
                URI.create("http://" + address.getHostString() + ":" + address.getPort()), ApiClient.DEFAULT_TIMEOUT);
    }

    String operatorSecret() throws CommandFailure {
        try {
            return OperatorToken.read(OperatorToken.file(stateDir)).secret();
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.STATE_UNUSABLE, String.valueOf(e.getMessage()), e);
        }
    }

    /** The rank socket of the first (0) or second (1) worker. */
    Path socket(int worker) {
        return (worker == 0 ? first : second).rankSocket().orElseThrow();
    }

    @Override
    public void close() {
        second.close();
        first.close();
    }
}
