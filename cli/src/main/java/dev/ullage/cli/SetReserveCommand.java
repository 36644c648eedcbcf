package dev.ullage.cli;

import dev.ullage.cli.client.ApiException;
import dev.ullage.common.model.Share;
import dev.ullage.config.SettingsException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ullage set reserve 25%}. */
@Command(
        name = "reserve",
        description = "Sets the share of each device that no rank is promised. Ranks shrink before it is in force.")
final class SetReserveCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Parameters(paramLabel = "SHARE", converter = ShareConverter.class, description = "25%%, 0.25 or 2500bp.")
    private Share reserve = Share.NONE;

    @Option(names = "--device", paramLabel = "UUID", description = "Only this device (default: all).")
    private @Nullable String device;

    @Mixin
    private WriteOptions write = new WriteOptions();

    SetReserveCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure, ApiException {
        return write.send(
                "reserve",
                WriteOptions.body().put("reserve", reserve.toString()).put("device", device),
                environment);
    }
}
