package dev.ullage.cli;

import dev.ullage.cli.client.ApiException;
import dev.ullage.config.SettingsException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code ullage cancel JOB}. */
@Command(
        name = "cancel",
        description = "Withdraws a job: one that waits leaves the queue, one that runs is told to end.",
        footer = {
            "",
            "Its room is given back at once; \"ullage run\" ends what it started, and the ranks keep their limits until"
                    + " they are gone."
        })
final class CancelCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Parameters(paramLabel = "JOB", description = "As \"ullage jobs\" shows it.")
    private String job = "";

    @Mixin
    private TokenOptions token = new TokenOptions();

    @Mixin
    private ServerOption server = new ServerOption();

    CancelCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure, ApiException {
        String secret = token.read(environment).secret();
        environment.out().println(server.client().cancel(job, false, secret));
        return ExitCode.OK.code();
    }
}
