package dev.ullage.cli;

import dev.ullage.cli.client.ApiException;
import dev.ullage.config.SettingsException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code ullage undrain NODE}. */
@Command(name = "undrain", description = "Lets a node that was drained take new ranks again.")
final class UndrainCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Parameters(paramLabel = "NODE", description = "As \"ullage status\" shows it.")
    private String node = "";

    @Mixin
    private WriteOptions write = new WriteOptions();

    UndrainCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure, ApiException {
        return write.send("undrain", DrainCommand.body(node, environment), environment);
    }
}
