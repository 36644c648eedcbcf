package dev.ullage.cli;

import dev.ullage.cli.show.Terminal;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * What surrounds a command. Commands reach the process through this only.
 *
 * @param variables environment variables
 * @param out what was asked for
 * @param err everything else
 * @param terminal what {@code out} is
 */
public record CliEnvironment(Map<String, String> variables, PrintWriter out, PrintWriter err, Terminal terminal) {

    public CliEnvironment {
        variables = Map.copyOf(variables);
    }

    static CliEnvironment ofProcess() {
        Map<String, String> variables = System.getenv();
        return new CliEnvironment(
                variables,
                new PrintWriter(System.out, true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                Terminal.ofProcess(variables));
    }
}
