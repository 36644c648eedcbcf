package dev.ullage.cli;

import dev.ullage.cli.client.ApiException;
import dev.ullage.config.SettingsException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code ullage set policy JOB growth}. */
@Command(
        name = "policy",
        description = "Sets by which policy the ranks of a job get their limits.",
        footer = {"", "It counts before what the settings say and what the ranks themselves ask for."})
final class SetPolicyCommand implements Callable<Integer> {
    static final String OFF = "off";

    private final CliEnvironment environment;

    @Parameters(index = "0", paramLabel = "JOB", description = "As \"ullage status\" shows it.")
    private String job = "";

    /** Not held against the policies that this command knows: the coordinator may be newer. */
    @Parameters(
            index = "1",
            paramLabel = "POLICY",
            description = "By the name that the settings use (docs/policies.md); off takes it back.")
    private String policy = OFF;

    @Mixin
    private WriteOptions write = new WriteOptions();

    SetPolicyCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    /** What is to be sent for it: null takes it back. */
    static @Nullable String unlessOff(String text) {
        return text.equals(OFF) ? null : text;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure, ApiException {
        return write.send("policy", WriteOptions.body().put("job", job).put("policy", unlessOff(policy)), environment);
    }
}
