package dev.ullage.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.client.ApiClient;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.show.StatusTable;
import dev.ullage.config.Durations;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code ullage status}: once, or again and again until it is stopped. */
@Command(
        name = "status",
        description = "Shows nodes, devices and ranks with what they use and what they may use.",
        footer = {
            "",
            "USED is what a rank holds, LIMIT what it may hold in its phase, TARGET the most its newest order allows in"
                    + " any phase, CEILING the most it may still believe. \"-\" is not known.",
            "DRAINING: nothing new is to be placed on the node. OVER_BUDGET: more is promised than may be, until ranks have shrunk. ABOVE_LIMIT: a rank holds more than its"
                    + " limit. OFFLINE: its client has no connection. SETTLING: its newest order is not confirmed yet."
                    + " LEAK: what it has allocated at the ends of its steps grows without end (\"ullage ranks\").",
            "NO_COLOR=1 switches colours off."
        })
final class StatusCommand implements Callable<Integer> {
    private static final String CLEAR = "\u001b[H\u001b[2J";

    private final CliEnvironment environment;

    @Option(names = "--json", description = "The status as JSON; with --watch one line each time.")
    private boolean json;

    @Option(names = "--watch", description = "Show it again and again, until Ctrl-C.")
    private boolean watch;

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            defaultValue = "1s",
            converter = IntervalConverter.class,
            description = "How often with --watch: 100ms to 1h (default: ${DEFAULT-VALUE}).")
    private Duration interval = Duration.ofSeconds(1);

    @Mixin
    private ReadServerOption server = new ReadServerOption();

    StatusCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws ApiException, CommandFailure, InterruptedException {
        ApiClient client = server.client();
        if (!watch) {
            show(text(client.status()));
            return ExitCode.OK.code();
        }
        CountDownLatch never = new CountDownLatch(1);
        do {
            show(frame(client));
        } while (!never.await(interval.toMillis(), TimeUnit.MILLISECONDS)
                && !environment.out().checkError());
        return ExitCode.OK.code();
    }

    /** Who watches wants to see a coordinator go and come back, not the end of the watch. */
    private String frame(ApiClient client) {
        String clear = environment.terminal().isInteractive() && !json ? CLEAR : "";
        try {
            return clear + text(client.status());
        } catch (ApiException e) {
            if (json) {
                environment.err().println("ullage: " + e.getMessage());
                return "";
            }
            return clear + e.getMessage() + System.lineSeparator();
        }
    }

    private String text(JsonNode status) {
        return json ? status + "\n" : StatusTable.render(status, environment.terminal());
    }

    private void show(String text) {
        PrintWriter out = environment.out();
        out.print(text);
        out.flush();
    }

    private static final class IntervalConverter implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            try {
                return Durations.parser(Duration.ofMillis(100), Duration.ofHours(1))
                        .apply(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException("'" + text + "' " + e.getMessage());
            }
        }
    }
}
