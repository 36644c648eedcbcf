package dev.ullage.cli.top;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.ReadServerOption;
import dev.ullage.cli.client.ApiClient;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.show.StatusTable;
import dev.ullage.cli.show.Terminal;
import dev.ullage.cli.show.TopScreen;
import dev.ullage.cli.show.TopSort;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jline.terminal.Size;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code ullage top}: devices and ranks, live, until {@code q}. */
@Command(
        name = "top",
        description =
                "Shows devices and ranks live in the terminal; without a terminal, once, as \"ullage status\" does.",
        footer = {
            "",
            "In a device's bar # is used, = is promised to ranks beyond that, . is the rest of the budget, blank is kept"
                    + " free; ! is promised beyond the budget.",
            "Keys: q quits; d, u, f, j sort by device, use, what is fullest, job; arrows, page keys, Home and End scroll. NO_COLOR=1 switches colours off."
        })
public final class TopCommand implements Callable<Integer> {
    private static final long REDRAW_MILLIS = 250;
    private static final long AGAIN_AFTER_SECONDS = 1;
    private static final int USUAL_ROWS = 24;
    private static final int USUAL_COLUMNS = 80;

    private final CliEnvironment environment;

    @Mixin
    private ReadServerOption server = new ReadServerOption();

    public TopCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws ApiException, CommandFailure {
        ApiClient client = server.client();
        JsonNode status = client.status();
        if (!environment.terminal().isInteractive()) {
            environment.out().print(StatusTable.render(status, environment.terminal()));
            environment.out().flush();
            return ExitCode.OK.code();
        }
        TopModel model = new TopModel(status);
        CountDownLatch end = new CountDownLatch(1);
        Thread reader = new Thread(() -> read(client, model, end), "top-reader");
        reader.setDaemon(true);
        try (Screen screen = Screen.open()) {
            reader.start();
            show(screen, model);
        } catch (IOException | IllegalStateException e) {
            throw new CommandFailure(ExitCode.FAILED, "this terminal cannot be used: " + e.getMessage(), e);
        } finally {
            end.countDown();
        }
        return ExitCode.OK.code();
    }

    /** Until the end: a coordinator that goes comes back. */
    private static void read(ApiClient client, TopModel model, CountDownLatch end) {
        boolean isOver = false;
        while (!isOver) {
            try {
                client.watch(snapshot -> {
                    model.take(snapshot);
                    return end.getCount() > 0;
                });
                model.trouble("the connection was closed; trying again");
            } catch (ApiException e) {
                model.trouble(e.getMessage() + "; trying again");
            }
            try {
                isOver = end.await(AGAIN_AFTER_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                isOver = true;
            }
        }
    }

    private void show(Screen screen, TopModel model) throws IOException {
        TopScreen.View view = new TopScreen.View(TopSort.DEVICE, 0);
        List<String> drawn = List.of();
        int key = Screen.NO_KEY;
        while (key != 'q' && (key >= 0 || key == Screen.NO_KEY)) {
            int rows = rows(screen.size());
            view = TopKey.apply(key, view, rows - 1, TopScreen.hidden(model.status(), rows));
            List<String> lines = lines(screen.size(), model, view);
            if (!lines.equals(drawn)) {
                screen.draw(lines);
                drawn = lines;
            }
            key = screen.key(REDRAW_MILLIS);
        }
    }

    private static int rows(Size size) {
        return size.getRows() > 0 ? size.getRows() : USUAL_ROWS;
    }

    private List<String> lines(Size size, TopModel model, TopScreen.View view) {
        int columns = size.getColumns() > 0 ? size.getColumns() : USUAL_COLUMNS;
        Terminal terminal = new Terminal(true, environment.terminal().hasColours(), columns);
        return TopScreen.render(model.status(), model.note(), view, rows(size), terminal);
    }
}
