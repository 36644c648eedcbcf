package dev.ullage.cli;

import dev.ullage.config.SettingsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Says where the token is, not what it is: a token on a screen or in a log is no secret any more. */
@Command(name = "token", description = "Prints the path of the file whose content lets its reader steer the cluster.")
final class TokenCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Mixin
    private TokenOptions options = new TokenOptions();

    TokenCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException {
        Path file = options.file(environment);
        environment.out().println(file);
        if (!Files.exists(file)) {
            environment.err().println("ullage: it does not exist yet: it is made when a coordinator first starts");
        }
        return ExitCode.OK.code();
    }
}
