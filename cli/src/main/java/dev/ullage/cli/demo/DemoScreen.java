package dev.ullage.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.show.StatusTable;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What a person sees while the demo runs: on a terminal the status table, drawn again in place, with the last events
 * under it; elsewhere one line per event. With {@code --json} events go to standard error, so that the summary stays
 * alone.
 */
final class DemoScreen {
    private static final String CLEAR = "\u001b[H\u001b[2J";
    private static final Duration REDRAW = Duration.ofMillis(500);
    private static final int EVENTS_SHOWN = 8;

    private final CliEnvironment environment;
    private final boolean json;
    private final Deque<String> events = new ArrayDeque<>();
    private final DemoClock clock;
    private Duration nextDraw = Duration.ZERO;

    DemoScreen(CliEnvironment environment, DemoClock clock, boolean json) {
        this.clock = clock;
        this.environment = environment;
        this.json = json;
    }

    void say(String event) {
        String line = "[%5.1f s] %s".formatted(clock.elapsed().toMillis() / 1e3, event);
        if (json) {
            environment.err().println(line);
        } else if (isLive()) {
            events.add(line);
            if (events.size() > EVENTS_SHOWN) {
                events.remove();
            }
        } else {
            environment.out().println(line);
        }
    }

    void show(JsonNode status) {
        if (!isLive() || clock.isBefore(nextDraw)) {
            return;
        }
        nextDraw = clock.elapsed().plus(REDRAW);
        PrintWriter out = environment.out();
        out.print(CLEAR + StatusTable.render(status, environment.terminal()));
        out.println();
        events.forEach(out::println);
        out.flush();
    }

    private boolean isLive() {
        return !json && environment.terminal().isInteractive();
    }
}
