package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DecisionsQuery;
import dev.ullage.common.protocol.ToCoordinator.EventsQuery;
import dev.ullage.common.protocol.ToCoordinator.HistoryQuery;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.Decisions;
import dev.ullage.common.protocol.ToOperator.Events;
import dev.ullage.common.protocol.ToOperator.History;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.config.HttpSettings;
import dev.ullage.coordinator.journal.DecisionPages;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpEntity;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.HttpChallenge;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.model.headers.WWWAuthenticate;
import org.apache.pekko.http.javadsl.server.AllDirectives;
import org.apache.pekko.http.javadsl.server.ExceptionHandler;
import org.apache.pekko.http.javadsl.server.MethodRejection;
import org.apache.pekko.http.javadsl.server.PathMatchers;
import org.apache.pekko.http.javadsl.server.Rejection;
import org.apache.pekko.http.javadsl.server.RejectionHandler;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.http.scaladsl.model.EntityStreamSizeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The routes, and nothing that has to be started. Whoever is not the coordinator asks it through {@code coordinator}.
 *
 * <p>Each answer is worked on by a thread that is there: without an executor, a future of Scala's starts a thread of
 * its own for what is done with its value where there are one or two cores.
 */
final class ApiRoutes extends AllDirectives {
    static final int MAX_BODY_BYTES = 16 * 1024;
    static final Duration ANSWER_WITHIN = Duration.ofSeconds(2);

    private static final Logger LOG = LoggerFactory.getLogger(ApiRoutes.class);
    private static final ContentType METRICS_TEXT = ContentTypes.parse(MetricsPage.CONTENT_TYPE);
    private static final Duration BODY_WITHIN = Duration.ofSeconds(5);

    private final ActorSystem<?> system;
    private final ActorRef<ToCoordinator> coordinator;
    private final NodeId self;
    private final RequestGuard guard;
    private final Clock clock;
    private final Scrapes scrapes;
    private final WatchRoutes watching;
    private final ReportRoutes reports;
    private final RequestApi requests;
    private final OpenApi description = OpenApi.load();
    /** What {@link #route} was not asked for. */
    private final SortedSet<String> paths = new TreeSet<>(List.of(
            "/",
            "/metrics",
            "/api/v1/stream",
            ReportRoutes.PATH,
            "/api/v1/requests/JOB",
            "/api/v1/requests/JOB/requeue"));

    ApiRoutes(
            ActorSystem<?> system,
            ActorRef<ToCoordinator> coordinator,
            NodeId self,
            ApiSecurity security,
            MetricsPage metrics,
            HttpSettings settings,
            Clock clock) {
        this.system = system;
        this.coordinator = coordinator;
        this.self = self;
        this.guard = new RequestGuard(security);
        this.clock = clock;
        this.scrapes = new Scrapes(this::askForMetrics, metrics, clock);
        this.requests = new RequestApi(this::ask);
        this.watching = new WatchRoutes(system, coordinator, self, settings.stream(), clock);
        this.reports = new ReportRoutes(system, coordinator, settings.report(), watching.page(), clock);
    }

    Route create() {
        Route routes = concat(
                route("health", "live", () -> get(() -> complete(json(field("live", true))))),
                route("health", "ready", () -> get(() -> completeWithFuture(ready()))),
                path("metrics", () -> get(() -> completeWithFuture(metrics()))),
                route("api/v1", "status", () -> get(() -> completeWithFuture(status()))),
                route(
                        "api/v1",
                        "events",
                        () -> get(() -> parameterList(
                                parameters -> completeWithFuture(events(EventFilter.parse(parameters)))))),
                route(
                        "api/v1",
                        "decisions",
                        () -> get(() -> parameterList(
                                parameters -> completeWithFuture(decisions(DecisionFilter.parse(parameters)))))),
                route("api/v1", "cluster", () -> get(() -> completeWithFuture(cluster()))),
                route(
                        "api/v1",
                        "history",
                        () -> get(() -> parameterList(
                                parameters -> completeWithFuture(history(HistoryFilter.parse(parameters)))))),
                watching.create(),
                reports.create(),
                route("api/v1", "openapi.json", () -> get(() -> complete(description.answer()))),
                resource(Resource.NODES),
                resource(Resource.DEVICES),
                resource(Resource.JOBS),
                resource(Resource.RANKS),
                resource(Resource.PLAN),
                writes(),
                route("api/v1", "requests", () -> get(() -> completeWithFuture(requests.list()))),
                pathPrefix(PathMatchers.separateOnSlashes("api/v1/requests"), this::request));
        return handleExceptions(
                exceptions(), () -> handleRejections(rejections(), () -> guarded(guard::refusal, () -> routes)));
    }

    private Route route(String folder, String name, Supplier<Route> inner) {
        paths.add("/" + folder + "/" + name);
        return pathPrefix(PathMatchers.separateOnSlashes(folder), () -> path(name, inner));
    }

    private Route writes() {
        return WriteBody.all().entrySet().stream()
                .map(one -> route(
                        "api/v1",
                        one.getKey(),
                        () -> post(() -> write(text -> change(one.getValue().apply(text))))))
                .reduce((first, second) -> concat(first, second))
                .orElseThrow();
    }

    private Route request() {
        return concat(
                path(
                        PathMatchers.segment(),
                        job -> concat(
                                get(() -> completeWithFuture(requests.one(job))),
                                put(() -> write(body -> requests.submit(job, body))),
                                delete(() -> parameterOptional(
                                        "ended", ended -> completeWithFuture(requests.cancel(job, ended)))))),
                path(
                        PathMatchers.segment().slash("requeue"),
                        job -> post(() -> completeWithFuture(requests.requeue(job)))));
    }

    private Route resource(Resource resource) {
        return route(
                "api/v1",
                resource.path(),
                () -> get(() -> parameterList(parameters ->
                        completeWithFuture(resource(resource, ResourceQuery.parse(resource, parameters))))));
    }

    private Route guarded(Function<HttpRequest, Optional<Problem>> refusal, Supplier<Route> inner) {
        return extractRequest(request -> refusal.apply(request)
                .map(problem -> complete(response(problem)))
                .orElseGet(inner));
    }

    /** The credential is looked at before a byte of the body is read. */
    private Route write(Function<String, CompletionStage<HttpResponse>> handler) {
        return guarded(
                guard::writeRefusal,
                () -> withSizeLimit(
                        MAX_BODY_BYTES, () -> extractStrictEntity(BODY_WITHIN, entity -> body(entity, handler))));
    }

    private Route body(HttpEntity.Strict entity, Function<String, CompletionStage<HttpResponse>> handler) {
        if (!entity.getContentType().mediaType().equals(ContentTypes.APPLICATION_JSON.mediaType())) {
            return complete(response(
                    Problem.of(StatusCodes.UNSUPPORTED_MEDIA_TYPE, "the body must be of type application/json")));
        }
        return completeWithFuture(handler.apply(entity.getData().utf8String()));
    }

    private CompletionStage<HttpResponse> status() {
        return ask(
                StatusQuery::new,
                answer -> answer instanceof ClusterStatus status
                        ? json(StatusJson.of(status, clock.instant()))
                        : unexpected(answer));
    }

    private CompletionStage<HttpResponse> cluster() {
        return ask(
                StatusQuery::new,
                answer -> answer instanceof ClusterStatus status
                        ? json(ClusterJson.of(status, clock.instant()))
                        : unexpected(answer));
    }

    private CompletionStage<HttpResponse> history(HistoryFilter filter) {
        ResourceQuery query = filter.query();
        if (!query.problems().isEmpty()) {
            return CompletableFuture.completedStage(response(
                    new Problem(StatusCodes.BAD_REQUEST, "the request cannot be understood", query.problems())));
        }
        return ask(
                replyTo -> new HistoryQuery(filter.device().orElseThrow(), query.offset(), query.limit(), replyTo),
                answer -> answer instanceof History history
                        ? json(HistoryJson.page(history, filter))
                        : unexpected(answer));
    }

    private CompletionStage<HttpResponse> resource(Resource resource, ResourceQuery query) {
        if (!query.problems().isEmpty()) {
            return CompletableFuture.completedStage(response(
                    new Problem(StatusCodes.BAD_REQUEST, "the request cannot be understood", query.problems())));
        }
        return ask(
                StatusQuery::new,
                answer -> answer instanceof ClusterStatus status
                        ? json(ResourceJson.of(status, resource, query, clock.instant()))
                        : unexpected(answer));
    }

    private CompletionStage<HttpResponse> events(EventFilter filter) {
        if (!filter.query().problems().isEmpty()) {
            return CompletableFuture.completedStage(response(new Problem(
                    StatusCodes.BAD_REQUEST,
                    "the request cannot be understood",
                    filter.query().problems())));
        }
        return ask(
                replyTo -> new EventsQuery(filter.since(), replyTo),
                answer -> answer instanceof Events events
                        ? json(EventsJson.page(events, filter.query()))
                        : unexpected(answer));
    }

    private CompletionStage<HttpResponse> decisions(DecisionFilter filter) {
        ResourceQuery query = filter.query();
        if (!query.problems().isEmpty()) {
            return CompletableFuture.completedStage(response(
                    new Problem(StatusCodes.BAD_REQUEST, "the request cannot be understood", query.problems())));
        }
        return ask(
                replyTo -> new DecisionsQuery(filter.device(), filter.job(), query.offset(), query.limit(), replyTo),
                answer -> answer instanceof Decisions decisions
                        ? json(DecisionPages.json(decisions, StatusJson.SCHEMA, query.offset(), query.limit()))
                        : unexpected(answer));
    }

    private CompletionStage<HttpResponse> metrics() {
        return scrapes.latest()
                .thenApply(text -> secured(HttpResponse.create().withEntity(HttpEntities.create(METRICS_TEXT, text))));
    }

    private CompletionStage<Optional<ClusterStatus>> askForMetrics() {
        return AskPattern.<ToCoordinator, ToOperator>ask(
                        coordinator, StatusQuery::new, ANSWER_WITHIN, system.scheduler())
                .handleAsync(
                        (answer, failure) ->
                                answer instanceof ClusterStatus status ? Optional.of(status) : Optional.empty(),
                        system.executionContext());
    }

    private CompletionStage<HttpResponse> ready() {
        return ask(StatusQuery::new, answer -> {
            if (!(answer instanceof ClusterStatus status)) {
                return unexpected(answer);
            }
            return status.state().equals("ACTIVE")
                    ? json(field("ready", true))
                    : response(Problem.of(
                            StatusCodes.SERVICE_UNAVAILABLE,
                            "the coordinator on " + status.coordinator() + " is " + status.state()));
        });
    }

    private CompletionStage<HttpResponse> change(WriteBody body) {
        if (!body.problems().isEmpty()) {
            return CompletableFuture.completedStage(response(
                    new Problem(StatusCodes.BAD_REQUEST, "the request cannot be understood", body.problems())));
        }
        return ask(body.message(), answer -> {
            if (answer instanceof Accepted accepted) {
                return json(JsonNodeFactory.instance
                        .objectNode()
                        .put("schema", StatusJson.SCHEMA)
                        .put("message", accepted.message()));
            }
            return answer instanceof Refused refused
                    ? response(Problem.refused(refused.message(), refused.notKnown()))
                    : unexpected(answer);
        });
    }

    private CompletionStage<HttpResponse> ask(
            Function<ActorRef<ToOperator>, ToCoordinator> message, Function<ToOperator, HttpResponse> onAnswer) {
        return AskPattern.ask(coordinator, message::apply, ANSWER_WITHIN, system.scheduler())
                .handleAsync(
                        (answer, failure) -> failure == null ? onAnswer.apply(answer) : response(nobodyAnswered()),
                        system.executionContext());
    }

    private Problem nobodyAnswered() {
        return Problem.of(
                StatusCodes.SERVICE_UNAVAILABLE,
                "no coordinator answered node " + self + " within " + ANSWER_WITHIN.toSeconds()
                        + " s; one may be about to take over, or the one there is has an older version than this node"
                        + " and does not know the question");
    }

    static HttpResponse unexpected(ToOperator answer) {
        LOG.error("unexpected answer of the coordinator: {}", answer.getClass().getName());
        return response(Problem.of(StatusCodes.INTERNAL_SERVER_ERROR, "the coordinator's answer makes no sense here"));
    }

    private static ObjectNode field(String name, boolean value) {
        return JsonNodeFactory.instance.objectNode().put(name, value);
    }

    static HttpResponse json(ObjectNode json) {
        return secured(HttpResponse.create()
                .withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, json.toString() + "\n")));
    }

    static HttpResponse response(Problem problem) {
        HttpResponse response = secured(problem.toResponse());
        return problem.status().equals(StatusCodes.UNAUTHORIZED)
                ? response.addHeader(WWWAuthenticate.create(HttpChallenge.create("Bearer", "ullage")))
                : response;
    }

    /** An answer is of this moment, and it is data: no browser is to keep it or to guess that it is a page. */
    static HttpResponse secured(HttpResponse response) {
        return response.addHeader(RawHeader.create("Cache-Control", "no-store"))
                .addHeader(RawHeader.create("X-Content-Type-Options", "nosniff"));
    }

    private ExceptionHandler exceptions() {
        return ExceptionHandler.newBuilder()
                .match(EntityStreamSizeException.class, e -> complete(response(tooLarge())))
                .match(TimeoutException.class, e -> complete(response(bodyTooSlow())))
                .matchAny(e -> {
                    LOG.error("a request failed", e);
                    return complete(response(
                            Problem.of(StatusCodes.INTERNAL_SERVER_ERROR, "internal error; the log has the details")));
                })
                .build();
    }

    private static Problem bodyTooSlow() {
        return Problem.of(
                StatusCodes.REQUEST_TIMEOUT, "the body did not come within " + BODY_WITHIN.toSeconds() + " s");
    }

    private static Problem tooLarge() {
        return Problem.of(
                StatusCodes.CONTENT_TOO_LARGE, "the body must not have more than " + MAX_BODY_BYTES + " bytes");
    }

    private RejectionHandler rejections() {
        return RejectionHandler.newBuilder()
                .handleAll(MethodRejection.class, rejections -> complete(methodNotAllowed(rejections)))
                .handle(
                        Rejection.class,
                        rejection -> complete(
                                response(Problem.of(StatusCodes.BAD_REQUEST, "the request cannot be understood"))))
                .handleNotFound(complete(response(Problem.of(
                        StatusCodes.NOT_FOUND, "there is nothing here; known: " + String.join(", ", paths)))))
                .build();
    }

    private static HttpResponse methodNotAllowed(List<MethodRejection> rejections) {
        String allowed = rejections.stream()
                .map(rejection -> rejection.supported().name())
                .distinct()
                .collect(Collectors.joining(", "));
        return response(Problem.of(StatusCodes.METHOD_NOT_ALLOWED, "only " + allowed + " is possible here"))
                .addHeader(RawHeader.create("Allow", allowed));
    }
}
