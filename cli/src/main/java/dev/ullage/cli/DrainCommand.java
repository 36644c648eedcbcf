package dev.ullage.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.client.ApiException;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.config.SettingsException;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code ullage drain NODE --reason "fan replaced"}. */
@Command(
        name = "drain",
        description = "Has nothing new placed on a node; what runs there stays and is served as before.",
        footer = {
            "",
            "As with a drained node of Slurm or a cordoned one of Kubernetes. A rank that starts there all the same is"
                    + " served like any other, with a warning in the events. It lasts until \"ullage undrain NODE\"."
        })
final class DrainCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Parameters(paramLabel = "NODE", description = "As \"ullage status\" shows it.")
    private String node = "";

    @Option(
            names = "--reason",
            paramLabel = "TEXT",
            converter = ReasonConverter.class,
            description = "Why, for whoever looks: one line of at most 200 characters.")
    private @Nullable String reason;

    @Mixin
    private WriteOptions write = new WriteOptions();

    DrainCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws SettingsException, CommandFailure, ApiException {
        return write.send("drain", body(node, environment).put("reason", reason), environment);
    }

    /** With who asks, as the shell knows it; nobody checks it. */
    static ObjectNode body(String node, CliEnvironment environment) {
        String user = environment.variables().get("USER");
        return WriteOptions.body().put("node", node).put("by", isUsable(user) ? user : null);
    }

    private static boolean isUsable(@Nullable String user) {
        try {
            return user != null && !Drain.requireBy(user).isEmpty();
        } catch (IllegalArgumentException e) {
            return false; // no name that could be shown in one line
        }
    }

    private static final class ReasonConverter implements ITypeConverter<String> {
        private final UnaryOperator<String> check = Drain::requireReason;

        @Override
        public String convert(String text) {
            try {
                return check.apply(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
