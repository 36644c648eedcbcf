package dev.ullage.cli.node;

import dev.ullage.cli.CliEnvironment;
import dev.ullage.config.SettingsFlag;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ullage up}: coordinator and worker in one process. */
@Command(name = "up", description = "Start coordinator and worker in one process, on loopback.")
public final class UpCommand extends NodeCommand {
    @Option(names = "--port", paramLabel = "PORT", description = "Port of the API. Default: 7788; 0: any free one.")
    @Nullable
    String port;

    @Option(
            names = "--simulate",
            paramLabel = "SPEC",
            description = "Simulated devices instead of real ones: 8xH100-80G,2xA100-40G")
    @Nullable
    String simulate;

    public UpCommand(CliEnvironment environment) {
        super(environment, Set.of(UllageNode.Role.COORDINATOR, UllageNode.Role.WORKER));
    }

    @Override
    List<SettingsFlag> flags() {
        List<SettingsFlag> flags = commonFlags();
        add(flags, "--port", "ullage.http.port", port);
        add(flags, "--simulate", "ullage.worker.devices.simulate", simulate);
        if (config == null && clusterPort == null) {
            // Nobody else is told of a node that is started by itself: it need not keep a port for them.
            add(flags, "up", "ullage.cluster.port", "0");
        }
        return flags;
    }
}
