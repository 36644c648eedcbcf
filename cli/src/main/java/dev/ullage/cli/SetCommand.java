package dev.ullage.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What an operator may change. */
@Command(
        name = "set",
        description = "Changes the reserve of devices, and what jobs and ranks get.",
        synopsisSubcommandLabel = "(reserve | share | policy | priority | limit)",
        footer = {
            "",
            "Each is ruled on at once, and refused with the numbers when no plan could carry it out. What is set for a"
                    + " job is kept by the workers, also when another coordinator takes over, until an hour after the"
                    + " job's last rank has left; \"ullage status\" shows it."
        })
final class SetCommand implements Runnable {
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(
                    spec.commandLine(), "say what to set: reserve, share, policy, priority or limit");
        }
    }
}
