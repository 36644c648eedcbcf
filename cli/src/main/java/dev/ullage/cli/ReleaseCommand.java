package dev.ullage.cli;

import dev.ullage.cli.client.ApiException;
import dev.ullage.config.SettingsException;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code ullage release JOB} or {@code ullage release JOB/3}. */
@Command(
        name = "release",
        description = "Asks the ranks of a job, or one of them, to give their allocators' caches back to the device.",
        footer = {
            "",
            "Each does so once, at its next change of phase; its limit stays. \"ullage ranks\" shows what came of it."
        })
final class ReleaseCommand implements Callable<Integer> {
    private static final Pattern JOB_AND_RANK = Pattern.compile("(.+)/(\\d{1,9})");

    private final CliEnvironment environment;

    @Parameters(paramLabel = "JOB[/RANK]", description = "As \"ullage status\" shows it.")
    private String target = "";

    @Mixin
    private TokenOptions token = new TokenOptions();

    @Mixin
    private ServerOption server = new ServerOption();

    ReleaseCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure, ApiException {
        String secret = token.read(environment).secret();
        Matcher matcher = JOB_AND_RANK.matcher(target);
        String job = matcher.matches() ? matcher.group(1) : target;
        OptionalInt rank = matcher.matches() ? OptionalInt.of(Integer.parseInt(matcher.group(2))) : OptionalInt.empty();
        environment.out().println(server.client().release(job, rank, secret));
        return ExitCode.OK.code();
    }
}
