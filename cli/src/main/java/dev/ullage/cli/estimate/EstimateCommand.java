package dev.ullage.cli.estimate;

import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ullage estimate}. */
@Command(name = "estimate", description = "Works out what memory each rank will need, before the run.")
public final class EstimateCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Option(
            names = "--accuracy",
            paramLabel = "FILE",
            arity = "1..*",
            split = ",",
            description = "Compare the estimates with measurements: tables of published peaks or of Megatron's tests")
    private List<Path> accuracy = List.of();

    @Option(names = "--rows", description = "With --accuracy: every row, not only the worst.")
    private boolean rows;

    @Option(names = "--json", description = "The answer as JSON, amounts in bytes.")
    private boolean json;

    public EstimateCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws CommandFailure {
        AccuracyReport report = new AccuracyReport(MeasurementFiles.read(accuracy));
        environment.out().print(json ? report.json() + "\n" : report.text(rows));
        environment.out().flush();
        return ExitCode.OK.code();
    }
}
