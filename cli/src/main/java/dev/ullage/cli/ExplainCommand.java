package dev.ullage.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.show.JobExplanation;
import dev.ullage.cli.show.JobExplanationJson;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ullage explain JOB}. */
@Command(
        name = "explain",
        description =
                "Says why the ranks of a job have the limits they have: the policy, its numbers, what is held back.",
        footer = {
            "",
            "For a job that was started with an estimate (ullage run --estimate): planned, measured, corrected and in"
                    + " force for each phase.",
            "\"ullage status --json\" has the same in the fields policy, explanation, needs and heldBack."
        })
final class ExplainCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Parameters(paramLabel = "JOB", description = "As \"ullage status\" shows it, without the rank.")
    private String job = "";

    @Option(names = "--json", description = "The same as JSON, amounts in bytes.")
    private boolean json;

    @Mixin
    private ReadServerOption server = new ReadServerOption();

    ExplainCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws ApiException, CommandFailure {
        JsonNode status = server.client().status();
        Optional<String> known = json
                ? JobExplanationJson.of(status, job).map(line -> line + "\n")
                : JobExplanation.render(status, job, environment.terminal());
        String text = known.orElseThrow(() -> new CommandFailure(ExitCode.FAILED, JobExplanation.unknown(status, job)));
        environment.out().print(text);
        environment.out().flush();
        return ExitCode.OK.code();
    }
}
