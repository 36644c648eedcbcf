package dev.ullage.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.show.JobsTable;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code ullage jobs}: the jobs that have ranks. */
@Command(
        name = "jobs",
        description = "Shows the jobs that have ranks, with what these hold and may hold together.",
        footer = {
            "",
            "PROCESSES is more than RANKS while a rank is replaced. USED, TARGET and CEILING are sums over the ranks:"
                    + " what they hold, what their newest orders allow, what they may still believe; \"-\" when that of"
                    + " one rank is not known. SKEW is the largest peak of a rank by the median of all, of the phase in"
                    + " which that is most. TURN: whether the job has a turn somewhere or waits for one."
                    + " \"ullage ranks --job JOB\" shows each rank."
        })
final class JobsCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Option(names = "--json", description = "As JSON: the items of /api/v1/jobs.")
    private boolean json;

    @Mixin
    private ReadServerOption server = new ReadServerOption();

    JobsCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws ApiException, CommandFailure {
        JsonNode jobs = server.client().jobs();
        environment.out().print(json ? jobs + "\n" : JobsTable.render(jobs, environment.terminal()));
        environment.out().flush();
        return ExitCode.OK.code();
    }
}
