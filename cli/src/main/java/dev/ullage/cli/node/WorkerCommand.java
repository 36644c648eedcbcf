package dev.ullage.cli.node;

import dev.ullage.cli.CliEnvironment;
import dev.ullage.config.SettingsFlag;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ullage worker}: owns the devices of this host. */
@Command(name = "worker", description = "Start a worker node: it owns this host's devices and serves its ranks.")
public final class WorkerCommand extends NodeCommand {
    @Option(
            names = "--simulate",
            paramLabel = "SPEC",
            description = "Simulated devices instead of real ones: 8xH100-80G,2xA100-40G")
    @Nullable
    String simulate;

    public WorkerCommand(CliEnvironment environment) {
        super(environment, Set.of(UllageNode.Role.WORKER));
    }

    @Override
    List<SettingsFlag> flags() {
        List<SettingsFlag> flags = commonFlags();
        add(flags, "--simulate", "ullage.worker.devices.simulate", simulate);
        return flags;
    }
}
