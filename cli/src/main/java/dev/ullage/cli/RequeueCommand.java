package dev.ullage.cli;

import dev.ullage.cli.client.ApiException;
import dev.ullage.config.SettingsException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code ullage requeue JOB}. */
@Command(
        name = "requeue",
        description = "Puts a job to the end of the queue; one that runs is told to end, and waits again.",
        footer = {"", "Its age counts from now on. \"ullage jobs\" shows where it stands."})
final class RequeueCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Parameters(paramLabel = "JOB", description = "As \"ullage jobs\" shows it.")
    private String job = "";

    @Mixin
    private TokenOptions token = new TokenOptions();

    @Mixin
    private ServerOption server = new ServerOption();

    RequeueCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure, ApiException {
        String secret = token.read(environment).secret();
        environment.out().println(server.client().requeue(job, secret));
        return ExitCode.OK.code();
    }
}
