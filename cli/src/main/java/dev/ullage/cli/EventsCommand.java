package dev.ullage.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.client.ApiClient;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.show.EventText;
import dev.ullage.common.model.EventId;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code ullage events}: what happened, and with {@code --follow} what happens. */
@Command(
        name = "events",
        description = "Shows what happened in the cluster, oldest first: who joined or left, which limits changed and"
                + " why, what was refused, what went wrong with a device.",
        footer = {
            "",
            "The coordinator keeps the last 1000 events in memory; a new one begins with none and says so. The second"
                    + " column is an event's id, for --since."
        })
final class EventsCommand implements Callable<Integer> {
    private static final long AGAIN_AFTER_SECONDS = 1;

    private final CliEnvironment environment;

    @Option(names = "--json", description = "As JSON; with --follow one line for each event.")
    private boolean json;

    @Option(names = "--follow", description = "Go on as things happen, until Ctrl-C.")
    private boolean follow;

    @Option(
            names = "--since",
            paramLabel = "ID",
            converter = IdConverter.class,
            description = "Only events after this one, such as 3.17.")
    private @Nullable EventId since;

    @Mixin
    private ReadServerOption server = new ReadServerOption();

    private Optional<String> last = Optional.empty();

    EventsCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws ApiException, CommandFailure, InterruptedException {
        last = Optional.ofNullable(since).map(EventId::toString);
        ApiClient client = server.client();
        if (follow) {
            followOn(client);
        } else {
            JsonNode page = client.events(last);
            if (json) {
                show(page + "\n");
            } else {
                show(page.path("items"), page.path("complete").asBoolean());
            }
        }
        return ExitCode.OK.code();
    }

    /** Who follows wants to see a coordinator go and come back, not the end; but where none ever was, that is said. */
    private void followOn(ApiClient client) throws ApiException, InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        boolean isSaid = false;
        do {
            try {
                client.follow(last, this::showMessage);
                isSaid = false;
            } catch (ApiException e) {
                if (last.isEmpty()) {
                    throw e;
                }
                if (!isSaid) {
                    environment.err().println("ullage: " + e.getMessage() + "; trying again");
                    environment.err().flush();
                }
                isSaid = true;
            }
        } while (!environment.out().checkError() && !never.await(AGAIN_AFTER_SECONDS, TimeUnit.SECONDS));
    }

    private boolean showMessage(JsonNode message) {
        JsonNode events = message.path("events");
        boolean isComplete = message.path("complete").asBoolean();
        if (json) {
            StringBuilder lines = new StringBuilder();
            events.forEach(event -> lines.append(event).append('\n'));
            show(lines.toString());
        } else {
            show(events, isComplete);
        }
        for (JsonNode event : events) {
            last = Optional.of(event.path("id").asText());
        }
        return !environment.out().checkError();
    }

    private void show(JsonNode events, boolean isComplete) {
        if (!isComplete) {
            environment
                    .err()
                    .println("ullage: earlier events are not known: the coordinator was replaced, or they were"
                            + " too many");
            environment.err().flush();
        }
        show(EventText.render(events, environment.terminal()));
    }

    private void show(String text) {
        PrintWriter out = environment.out();
        out.print(text);
        out.flush();
    }

    private static final class IdConverter implements ITypeConverter<EventId> {
        @Override
        public EventId convert(String text) {
            try {
                return EventId.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException("'" + text + "' " + e.getMessage());
            }
        }
    }
}
