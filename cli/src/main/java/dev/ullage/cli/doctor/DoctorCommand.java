package dev.ullage.cli.doctor;

import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.show.FindingsText;
import dev.ullage.config.SettingsException;
import dev.ullage.config.SettingsFlag;
import dev.ullage.config.SettingsLoader;
import dev.ullage.config.UllageSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ullage doctor}: looks, and changes nothing. */
@Command(
        name = "doctor",
        description = "Checks whether this machine can do what a worker and its ranks need.",
        exitCodeListHeading = "%nExit codes of this command:%n",
        exitCodeList = {" 0:all checks pass", " 1:warnings only", " 2:a check fails"})
public final class DoctorCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Option(names = "--json", description = "The findings as JSON.")
    private boolean json;

    @Option(names = "--config", paramLabel = "FILE", description = "Settings file (HOCON).")
    private @Nullable Path config;

    @Option(names = "--state", paramLabel = "DIR", description = "State folder that the worker will use.")
    private @Nullable String state;

    public DoctorCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException {
        List<SettingsFlag> flags =
                state == null ? List.of() : List.of(new SettingsFlag("--state", "ullage.node.state-dir", state));
        UllageSettings settings = SettingsLoader.load(Optional.ofNullable(config), flags, environment.variables());
        Diagnosis diagnosis = Diagnosis.of(Diagnosis.CHECKS, new RealMachine(environment.variables(), settings));
        environment
                .out()
                .print(json ? diagnosis.json() + "\n" : FindingsText.render(diagnosis.json(), environment.terminal()));
        environment.out().flush();
        return diagnosis.exitCode();
    }
}
