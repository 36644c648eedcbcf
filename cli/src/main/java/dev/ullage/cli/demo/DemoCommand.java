package dev.ullage.cli.demo;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.config.Durations;
import dev.ullage.config.SettingsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code ullage demo}: shows the main job on this machine alone, and checks what it shows. */
@Command(
        name = "demo",
        description = {
            "Trains 8 ranks on 8 simulated GPUs of 2 nodes, changes their limits while they run, and checks the outcome.",
            "The ranks train a small transformer where python3 has torch, else a network in plain Python. Exit code 0"
                    + " only if every check holds."
        })
public final class DemoCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            defaultValue = "60s",
            converter = DurationConverter.class,
            description = "How long the ranks train once all of them do: 5s to 1h (default: ${DEFAULT-VALUE}).")
    private Duration duration = Duration.ofSeconds(60);

    @Option(names = "--json", description = "Print the summary alone, as JSON.")
    private boolean json;

    public DemoCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws CommandFailure, SettingsException, InterruptedException {
        keepLogsFromTheScreen();
        DemoClock clock = new DemoClock();
        DemoScreen screen = new DemoScreen(environment, clock, json);
        DemoPython python = DemoPython.find(environment.variables());
        Path folder = temporaryFolder();
        try {
            screen.say("starting two nodes with " + DemoCluster.DEVICES_PER_NODE + " simulated GPUs each; ranks on "
                    + python.interpreter()
                    + (python.hasTorch() ? " with torch" : ", which has no torch: plain Python"));
            DemoSummary summary = run(screen, clock, python, folder);
            if (json) {
                environment.out().println(summary.json().toPrettyString());
            } else {
                summary.print(environment.out());
            }
            return (summary.passed() ? ExitCode.OK : ExitCode.FAILED).code();
        } finally {
            delete(folder);
        }
    }

    /**
     * A person watches: only what needs one is logged. Nodes that start and end make warnings that mean nothing here.
     */
    private static void keepLogsFromTheScreen() {
        for (String name : List.of(org.slf4j.Logger.ROOT_LOGGER_NAME, "org.apache.pekko")) {
            ((Logger) LoggerFactory.getLogger(name)).setLevel(Level.ERROR);
        }
    }

    private DemoSummary run(DemoScreen screen, DemoClock clock, DemoPython python, Path folder)
            throws CommandFailure, SettingsException, InterruptedException {
        try (DemoCluster cluster = DemoCluster.start(folder);
                DemoRanks ranks = new DemoRanks(python, folder)) {
            Thread hook = new Thread(ranks::close, "end-of-demo");
            Runtime.getRuntime().addShutdownHook(hook);
            DemoRun.Outcome outcome = new DemoRun(cluster, ranks, screen, clock).run(duration);
            Runtime.getRuntime().removeShutdownHook(hook);
            return new DemoSummary(outcome, python.trainer(), duration);
        }
    }

    private static Path temporaryFolder() throws CommandFailure {
        try {
            return Files.createTempDirectory("ullage-demo");
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.STATE_UNUSABLE, "no temporary folder can be made: " + e.getMessage(), e);
        }
    }

    private static void delete(Path folder) {
        try (Stream<Path> tree = Files.walk(folder)) {
            List<Path> deepestFirst = tree.sorted(Comparator.reverseOrder()).toList();
            for (Path path : deepestFirst) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            LoggerFactory.getLogger(DemoCommand.class)
                    .warn("folder={} reason=\"not deleted: {}\"", folder, e.getMessage());
        }
    }

    private static final class DurationConverter implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            try {
                return Durations.parser(Duration.ofSeconds(5), Duration.ofHours(1))
                        .apply(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException("'" + text + "' " + e.getMessage());
            }
        }
    }
}
