package dev.ullage.cli.node;

import dev.ullage.cli.CliEnvironment;
import dev.ullage.config.SettingsFlag;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ullage coordinator}: a node that coordinates, or stands by to. */
@Command(name = "coordinator", description = "Start a coordinator node; one of several is active, the others stand by.")
public final class CoordinatorCommand extends NodeCommand {
    @Option(names = "--port", paramLabel = "PORT", description = "Port of the API. Default: 7788; 0: any free one.")
    @Nullable
    String port;

    public CoordinatorCommand(CliEnvironment environment) {
        super(environment, Set.of(UllageNode.Role.COORDINATOR));
    }

    @Override
    List<SettingsFlag> flags() {
        List<SettingsFlag> flags = commonFlags();
        add(flags, "--port", "ullage.http.port", port);
        return flags;
    }
}
