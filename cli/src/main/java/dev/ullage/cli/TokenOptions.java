package dev.ullage.cli;

import dev.ullage.config.SettingsException;
import dev.ullage.config.SettingsLoader;
import dev.ullage.coordinator.http.OperatorToken;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where the operator's token is: said outright, or in the state folder of the settings. */
final class TokenOptions {
    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "The operator's token (default: the one in the state folder).")
    private @Nullable Path tokenFile;

    @Option(names = "--config", paramLabel = "FILE", description = "Settings file, for where the state folder is.")
    private @Nullable Path config;

    Path file(CliEnvironment environment) throws SettingsException {
        if (tokenFile != null) {
            return tokenFile;
        }
        return OperatorToken.file(SettingsLoader.load(Optional.ofNullable(config), List.of(), environment.variables())
                .node()
                .stateDir());
    }

    OperatorToken read(CliEnvironment environment) throws SettingsException, CommandFailure {
        try {
            return OperatorToken.read(file(environment));
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.STATE_UNUSABLE, String.valueOf(e.getMessage()), e);
        }
    }
}
