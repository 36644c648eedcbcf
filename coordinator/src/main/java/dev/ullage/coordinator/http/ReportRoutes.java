package dev.ullage.coordinator.http;

import dev.ullage.common.model.JobId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.AccountsQuery;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accounts;
import dev.ullage.common.protocol.ToOperator.NotKnown;
import dev.ullage.config.ReportSettings;
import dev.ullage.coordinator.report.Price;
import dev.ullage.coordinator.report.RunFigures;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.server.AllDirectives;
import org.apache.pekko.http.javadsl.server.PathMatchers;
import org.apache.pekko.http.javadsl.server.Route;

/** The report on a job, and the page that shows it. */
final class ReportRoutes extends AllDirectives {
    static final String PATH = "/api/v1/report";

    private static final String PARAMETER = "job";

    private final ActorSystem<?> system;
    private final ActorRef<ToCoordinator> coordinator;
    private final Optional<Price> price;
    private final PageFiles page;
    private final Clock clock;

    ReportRoutes(
            ActorSystem<?> system,
            ActorRef<ToCoordinator> coordinator,
            ReportSettings settings,
            PageFiles page,
            Clock clock) {
        this.system = system;
        this.coordinator = coordinator;
        this.price = settings.deviceHourPrice().map(amount -> new Price(amount, settings.currency()));
        this.page = page;
        this.clock = clock;
    }

    Route create() {
        return concat(
                path(
                        PathMatchers.separateOnSlashes(PATH.substring(1)),
                        () -> get(() -> parameterList(parameters -> completeWithFuture(report(parameters))))),
                pathPrefix(
                        "report",
                        () -> path(
                                PathMatchers.segment(),
                                job -> get(() ->
                                        extractRequest(request -> complete(page.answer(PageFiles.REPORT, request)))))));
    }

    private CompletionStage<HttpResponse> report(List<Map.Entry<String, String>> parameters) {
        Optional<JobId> job = Optional.empty();
        String problem = "the one parameter is job=JOB";
        if (parameters.size() == 1 && parameters.get(0).getKey().equals(PARAMETER)) {
            try {
                job = Optional.of(new JobId(parameters.get(0).getValue()));
            } catch (IllegalArgumentException e) {
                problem = PARAMETER + ": " + e.getMessage();
            }
        }
        if (job.isEmpty()) {
            return CompletableFuture.completedStage(ApiRoutes.response(
                    new Problem(StatusCodes.BAD_REQUEST, "the request cannot be understood", List.of(problem))));
        }
        JobId asked = job.get();
        return AskPattern.<ToCoordinator, ToOperator>ask(
                        coordinator,
                        replyTo -> new AccountsQuery(asked, replyTo),
                        ApiRoutes.ANSWER_WITHIN,
                        system.scheduler())
                .handleAsync(
                        (answer, failure) ->
                                answer instanceof Accounts accounts ? answer(asked, accounts) : nobodyAnswered(),
                        system.executionContext());
    }

    private HttpResponse answer(JobId job, Accounts accounts) {
        if (accounts.ranks().isEmpty()) {
            return ApiRoutes.response(unknown(job, accounts));
        }
        String json = ReportJson.of(job, RunFigures.of(accounts, price), clock.instant()) + "\n";
        return ApiRoutes.secured(
                HttpResponse.create().withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, json)));
    }

    private static Problem unknown(JobId job, Accounts accounts) {
        String known = accounts.known().isEmpty()
                ? "none is known"
                : "known: " + accounts.known().stream().map(JobId::value).collect(Collectors.joining(", "));
        return Problem.refused(
                "no job named " + job + " has an account here, or its workers have not told it yet; " + known,
                Optional.of(new NotKnown("job")));
    }

    private static HttpResponse nobodyAnswered() {
        return ApiRoutes.response(Problem.of(
                StatusCodes.SERVICE_UNAVAILABLE,
                "no coordinator that makes reports answered within " + ApiRoutes.ANSWER_WITHIN.toSeconds() + " s"));
    }
}
