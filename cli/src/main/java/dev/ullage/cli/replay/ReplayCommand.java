package dev.ullage.cli.replay;

import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.common.model.DeviceId;
import dev.ullage.config.PolicyName;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code ullage replay}: gives the planner what it was given before, with no cluster running. */
@Command(
        name = "replay",
        description = "Reads decision logs, gives the planner what it was given then, and shows where it decides"
                + " otherwise.",
        footer = {
            "",
            "A coordinator writes decisions.jsonl and decisions.jsonl.1, .2, .. in its state folder.",
            "Exit code 0: every decision is the same; 1: some differ; 4: a file cannot be read, or has lines that are no"
                    + " records."
        })
public final class ReplayCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "Decision logs, or folders that have them.")
    private List<Path> files = List.of();

    @Option(
            names = "--device",
            paramLabel = "ID",
            converter = DeviceConverter.class,
            description = "Only decisions about this device.")
    private @Nullable DeviceId device;

    @Option(
            names = "--policy",
            paramLabel = "NAME",
            converter = PolicyConverter.class,
            description =
                    "What another policy would have decided, for all ranks: rank-share, world-share, fixed, growth,"
                            + " priority-pool, hybrid, observed or planned.")
    private @Nullable PolicyName policy;

    @Option(names = "--json", description = "The result as JSON, amounts in bytes.")
    private boolean json;

    public ReplayCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws CommandFailure {
        ReplayReport report = new ReplayReport(Optional.ofNullable(device), Optional.ofNullable(policy));
        RecordFiles records = new RecordFiles(report::add);
        files.forEach(records::read);
        environment.out().print(json ? report.json(records) + "\n" : report.text(records));
        environment.out().flush();
        if (!records.problems().isEmpty()) {
            throw new CommandFailure(
                    ExitCode.BAD_SETTINGS, "not all could be read:\n  " + String.join("\n  ", records.problems()));
        }
        return (report.isAllTheSame() ? ExitCode.OK : ExitCode.FAILED).code();
    }

    private static final class DeviceConverter implements ITypeConverter<DeviceId> {
        @Override
        public DeviceId convert(String text) {
            try {
                return new DeviceId(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }

    private static final class PolicyConverter implements ITypeConverter<PolicyName> {
        @Override
        public PolicyName convert(String text) {
            return PolicyName.find(text)
                    .orElseThrow(() -> new TypeConversionException("'" + text + "' is no policy; known: "
                            + Arrays.stream(PolicyName.values())
                                    .map(PolicyName::label)
                                    .collect(Collectors.joining(", "))));
        }
    }
}
