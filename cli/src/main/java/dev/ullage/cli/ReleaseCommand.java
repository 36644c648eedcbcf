package dev.ullage.cli;

import dev.ullage.cli.client.ApiException;
import dev.ullage.config.SettingsException;
import java.util.concurrent.Callable;
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
    private final CliEnvironment environment;

    @Parameters(
            paramLabel = "JOB[/RANK]",
            converter = JobTarget.Converter.class,
            description = "As \"ullage status\" shows it.")
    private JobTarget target = JobTarget.of("");

    @Mixin
    private WriteOptions write = new WriteOptions();

    ReleaseCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure, ApiException {
        return write.send("release", target.putInto(WriteOptions.body()), environment);
    }
}
