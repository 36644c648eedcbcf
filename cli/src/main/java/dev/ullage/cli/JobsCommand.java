package dev.ullage.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.client.ApiClient;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.show.JobsTable;
import dev.ullage.cli.show.RequestsTable;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code ullage jobs}: the jobs that asked for room, and the jobs that have ranks. */
@Command(
        name = "jobs",
        description = "Shows the jobs that wait for room or have it, and those that have ranks with what these hold.",
        footer = {
            "",
            "Of the jobs that asked for room the waiting ones come first, in the order of the queue: AGE counts from when"
                    + " a job was submitted or put to the end, WAITS FOR says what is missing (below the table where it is"
                    + " too narrow), STARTS IN is an estimate, \"-\" when no known end of a job makes room; --json says"
                    + " what it rests on.",
            "PROCESSES is more than RANKS while a rank is replaced. USED, TARGET and CEILING are sums over the ranks:"
                    + " what they hold, what their newest orders allow, what they may still believe; \"-\" when that of"
                    + " one rank is not known. SKEW is the largest peak of a rank by the median of all, of the phase in"
                    + " which that is most. TURN: whether the job has a turn somewhere or waits for one."
                    + " \"ullage ranks --job JOB\" shows each rank."
        })
final class JobsCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Option(names = "--json", description = "As JSON: the items of /api/v1/jobs and of /api/v1/requests.")
    private boolean json;

    @Mixin
    private ReadServerOption server = new ReadServerOption();

    JobsCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws ApiException, CommandFailure {
        ApiClient client = server.client();
        ObjectNode jobs = client.jobs();
        JsonNode requests = requests(client);
        jobs.set("requests", requests);
        if (requests.isNull()) {
            environment
                    .err()
                    .println("ullage: the queue is not known: the coordinator did not answer; it may be older");
        }
        environment
                .out()
                .print(
                        json
                                ? jobs + "\n"
                                : RequestsTable.render(jobs, environment.terminal())
                                        + JobsTable.render(jobs, environment.terminal()));
        environment.out().flush();
        return ExitCode.OK.code();
    }

    /**
     * A coordinator from before there was a queue has none. Where only the node that is asked knows of queues, the
     * coordinator says nothing, and null says that.
     */
    private static JsonNode requests(ApiClient client) throws ApiException {
        try {
            return client.requests().path("items");
        } catch (ApiException e) {
            return switch (e.reason()) {
                case UNUSABLE -> JsonNodeFactory.instance.arrayNode();
                case UNREACHABLE -> JsonNodeFactory.instance.nullNode();
                default -> throw e;
            };
        }
    }
}
