package dev.ullage.cli;

import dev.ullage.cli.client.ApiException;
import dev.ullage.common.model.Share;
import dev.ullage.config.SettingsException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code ullage set share JOB 50%} or {@code ullage set share JOB/3 50%}. */
@Command(name = "share", description = "Sets what share of its fair limit each rank of a job gets, or one of them.")
final class SetShareCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Parameters(
            index = "0",
            paramLabel = "JOB[/RANK]",
            converter = JobTarget.Converter.class,
            description = "As \"ullage status\" shows it.")
    private JobTarget target = JobTarget.of("");

    @Parameters(
            index = "1",
            paramLabel = "SHARE",
            converter = ShareConverter.class,
            description = "50%%, 0.5 or 5000bp.")
    private Share share = Share.NONE;

    @Mixin
    private WriteOptions write = new WriteOptions();

    SetShareCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure, ApiException {
        return write.send("share", target.putInto(WriteOptions.body()).put("share", share.toString()), environment);
    }
}
