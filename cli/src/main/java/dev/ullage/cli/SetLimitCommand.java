package dev.ullage.cli;

import dev.ullage.cli.client.ApiException;
import dev.ullage.common.model.MemorySizes;
import dev.ullage.config.SettingsException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code ullage set limit JOB/3 30GiB}. */
@Command(
        name = "limit",
        description = "Sets the limit of one rank, in the place of what its policy gives it.",
        footer = {
            "",
            "It takes nothing from other ranks: it is refused, with the numbers, when the rank could not have all of it"
                    + " now. Where others come later, the rank keeps of it what they leave, and never less than its"
                    + " policy gives it."
        })
final class SetLimitCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Parameters(
            index = "0",
            paramLabel = "JOB/RANK",
            converter = RankConverter.class,
            description = "As \"ullage status\" shows it.")
    private JobTarget target = JobTarget.of("");

    @Parameters(
            index = "1",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "30GiB, 512MiB or whole bytes; off takes it back.")
    private String limit = SetPolicyCommand.OFF;

    @Mixin
    private WriteOptions write = new WriteOptions();

    SetLimitCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure, ApiException {
        return write.send(
                "limit",
                target.putInto(WriteOptions.body()).put("limit", SetPolicyCommand.unlessOff(limit)),
                environment);
    }

    private static final class RankConverter implements ITypeConverter<JobTarget> {
        @Override
        public JobTarget convert(String text) {
            JobTarget target = JobTarget.of(text);
            if (target.rank().isEmpty()) {
                throw new TypeConversionException("'" + text + "' names no rank: say JOB/RANK, such as " + text + "/0");
            }
            return target;
        }
    }

    private static final class SizeConverter implements ITypeConverter<String> {
        @Override
        public String convert(String text) {
            if (text.equals(SetPolicyCommand.OFF)) {
                return text;
            }
            try {
                MemorySizes.parse(text);
                return text;
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
