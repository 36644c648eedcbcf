package dev.ullage.cli;

import dev.ullage.cli.client.ApiException;
import dev.ullage.common.model.Priority;
import dev.ullage.config.SettingsException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code ullage set priority JOB high}. */
@Command(
        name = "priority",
        description = "Sets how much a job matters to the policies that look at it.",
        footer = {"", "priority-pool does, and so does the queue; \"ullage explain JOB\" shows what comes of it."})
final class SetPriorityCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Parameters(index = "0", paramLabel = "JOB", description = "As \"ullage status\" shows it.")
    private String job = "";

    @Parameters(
            index = "1",
            paramLabel = "PRIORITY",
            converter = Converter.class,
            description = "high, medium or low; off: as the settings say.")
    private String priority = SetPolicyCommand.OFF;

    @Mixin
    private WriteOptions write = new WriteOptions();

    SetPriorityCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure, ApiException {
        return write.send(
                "priority",
                WriteOptions.body().put("job", job).put("priority", SetPolicyCommand.unlessOff(priority)),
                environment);
    }

    private static final class Converter implements ITypeConverter<String> {
        @Override
        public String convert(String text) {
            try {
                return text.equals(SetPolicyCommand.OFF)
                        ? text
                        : Priority.of(text).label();
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage() + ", or off");
            }
        }
    }
}
