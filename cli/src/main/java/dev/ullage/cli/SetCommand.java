package dev.ullage.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What an operator may change. */
@Command(
        name = "set",
        description = "Changes the reserve of devices or the share of ranks.",
        synopsisSubcommandLabel = "(reserve | share)")
final class SetCommand implements Runnable {
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "say what to set: reserve or share");
        }
    }
}
