package dev.ullage.cli;

import dev.ullage.cli.client.ApiException;
import dev.ullage.common.model.Share;
import dev.ullage.config.SettingsException;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code ullage set share JOB 50%} or {@code ullage set share JOB/3 50%}. */
@Command(name = "share", description = "Sets what share of its fair limit each rank of a job gets, or one of them.")
final class SetShareCommand implements Callable<Integer> {
    private static final Pattern JOB_AND_RANK = Pattern.compile("(.+)/(\\d{1,9})");

    private final CliEnvironment environment;

    @Parameters(index = "0", paramLabel = "JOB[/RANK]", description = "As \"ullage status\" shows it.")
    private String target = "";

    @Parameters(
            index = "1",
            paramLabel = "SHARE",
            converter = ShareConverter.class,
            description = "50%%, 0.5 or 5000bp.")
    private Share share = Share.NONE;

    @Mixin
    private TokenOptions token = new TokenOptions();

    @Mixin
    private ServerOption server = new ServerOption();

    SetShareCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure, ApiException {
        String secret = token.read(environment).secret();
        Matcher matcher = JOB_AND_RANK.matcher(target);
        String job = matcher.matches() ? matcher.group(1) : target;
        OptionalInt rank = matcher.matches() ? OptionalInt.of(Integer.parseInt(matcher.group(2))) : OptionalInt.empty();
        environment.out().println(server.client().setShare(job, rank, share.toString(), secret));
        return ExitCode.OK.code();
    }
}
