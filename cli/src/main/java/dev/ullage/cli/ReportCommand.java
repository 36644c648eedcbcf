package dev.ullage.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.show.ReportText;
import dev.ullage.coordinator.http.ReportPage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ullage report JOB}: while it runs and after. */
@Command(
        name = "report",
        description = "Reports on a job, while it runs and after: memory, compute, loss and cost.",
        footer = {
            "",
            "What nobody told is \"unknown\", never 0: a script says its loss, samples and operations with"
                    + " rank.report(), a price is set with ullage.http.report.device-hour-price. docs/report.md says what"
                    + " each figure is. The same is served as a page at /report/JOB."
        })
final class ReportCommand implements Callable<Integer> {
    private final CliEnvironment environment;

    @Parameters(paramLabel = "JOB", description = "As \"ullage status\" shows it, without the rank.")
    private String job = "";

    @Option(names = "--json", description = "As JSON: the answer of /api/v1/report.")
    private boolean json;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Also writes a page with plots, one file that needs no server.")
    private @Nullable Path html;

    @Mixin
    private ReadServerOption server = new ReadServerOption();

    ReportCommand(CliEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws ApiException, CommandFailure {
        JsonNode report = server.client().report(job);
        if (html != null) {
            write(html, ReportPage.selfContained(report.toString()));
        }
        environment.out().print(json ? report + "\n" : ReportText.render(report, environment.terminal()));
        environment.out().flush();
        return ExitCode.OK.code();
    }

    private static void write(Path file, String page) throws CommandFailure {
        try {
            Files.writeString(file, page, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new CommandFailure(
                    ExitCode.FAILED, "--html: '%s' cannot be written: %s".formatted(file, e.toString()), e);
        }
    }
}
