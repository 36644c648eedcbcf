package dev.ullage.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.show.JobExplanation;
import dev.ullage.cli.show.RanksTable;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code ullage ranks}: what each rank does with its memory. */
@Command(
        name = "ranks",
        description = "Shows what each rank does with its memory: peaks by phase, fragmentation, leaks.",
        footer = {
            "",
            "INIT to IDLE: the most the rank held in that phase over its last steps. ALLOC/STEP: requests a step makes."
                    + " FRAG: memory in unused pieces of split blocks by what is held. WASTE: what rounding sizes up adds.",
            "LEAK: how fast what is allocated at the ends of the steps grows, when it does; \"none\" when it does not;"
                    + " \"-\" while too few steps were watched. \"-\" is not known."
        })
final class RanksCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Option(names = "--job", paramLabel = "JOB", description = "Only the ranks of this job.")
    private @Nullable String job;

    @Option(names = "--json", description = "As JSON: the ranks of the status, with the field watch.")
    private boolean json;

    @Mixin
    private ReadServerOption server = new ReadServerOption();

    RanksCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws ApiException, CommandFailure {
        JsonNode status = server.client().status();
        JsonNode ranks = RanksTable.ranks(status, Optional.ofNullable(job));
        if (job != null && ranks.path("ranks").isEmpty()) {
            environment.err().println("ullage: " + JobExplanation.unknown(status, job));
        }
        environment.out().print(json ? ranks + "\n" : RanksTable.render(ranks, environment.terminal()));
        environment.out().flush();
        return ExitCode.OK.code();
    }
}
