package dev.ullage.coordinator.http;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.EventId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.EventsQuery;
import dev.ullage.common.protocol.ToCoordinator.RequestsQuery;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.Events;
import dev.ullage.common.protocol.ToOperator.Requests;
import dev.ullage.config.StreamSettings;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.pekko.Done;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.server.AllDirectives;
import org.apache.pekko.http.javadsl.server.PathMatchers;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.stream.SystemMaterializer;

/** The stream of what happens, and the page that shows it. */
final class WatchRoutes extends AllDirectives {
    private static final ContentType EVENT_STREAM = ContentTypes.parse("text/event-stream");
    private static final String SNAPSHOTS = "snapshots";
    /** What was sent last is given this long to leave before connections end. */
    private static final long LEAVE_MILLIS = 200;

    private final ActorSystem<?> system;
    private final ActorRef<ToCoordinator> coordinator;
    private final NodeId self;
    private final StreamSettings settings;
    private final StreamHub hub;
    private final PageFiles page = PageFiles.load();

    WatchRoutes(
            ActorSystem<?> system,
            ActorRef<ToCoordinator> coordinator,
            NodeId self,
            StreamSettings settings,
            Clock clock) {
        this.system = system;
        this.self = self;
        this.coordinator = coordinator;
        this.settings = settings;
        this.hub =
                new StreamHub(asking(), settings, SystemMaterializer.get(system).materializer(), clock);
    }

    PageFiles page() {
        return page;
    }

    /** Starts the pace of the stream too; it ends with the actor system, and before it every stream does. */
    Route create() {
        Cancellable pace = system.scheduler()
                .scheduleWithFixedDelay(settings.interval(), settings.interval(), hub::tick, system.executionContext());
        CoordinatedShutdown.get(system)
                .addTask(CoordinatedShutdown.PhaseBeforeServiceUnbind(), "end-the-streams-of-" + self, () -> {
                    pace.cancel();
                    boolean isWatched = hub.readers() > 0;
                    hub.close();
                    return isWatched
                            ? CompletableFuture.supplyAsync(
                                    Done::done, CompletableFuture.delayedExecutor(LEAVE_MILLIS, TimeUnit.MILLISECONDS))
                            : CompletableFuture.completedStage(Done.done());
                });
        return concat(
                pathPrefix(
                        PathMatchers.separateOnSlashes("api/v1"),
                        () -> path(
                                "stream",
                                () -> get(() -> extractRequest(request ->
                                        parameterList(parameters -> complete(stream(request, parameters))))))),
                pathEndOrSingleSlash(() -> get(() -> extractRequest(request -> complete(page.answer("", request))))),
                pathPrefix(
                        "page",
                        () -> path(
                                PathMatchers.segment(),
                                name -> get(() -> extractRequest(request ->
                                        page.has(name) ? complete(page.answer(name, request)) : reject())))));
    }

    private HttpResponse stream(HttpRequest request, List<Map.Entry<String, String>> parameters) {
        List<String> problems = new ArrayList<>();
        boolean snapshots = true;
        for (Map.Entry<String, String> parameter : parameters) {
            boolean isKnown =
                    parameter.getKey().equals(SNAPSHOTS) && List.of("on", "off").contains(parameter.getValue());
            if (!isKnown) {
                problems.add("the only parameter is snapshots, on or off");
            }
            snapshots = parameter.getValue().equals("on");
        }
        String known = request.getHeader("Last-Event-ID").map(HttpHeader::value).orElse(null);
        Optional<EventId> after = EventFilter.id(known, "Last-Event-ID", problems);
        if (!problems.isEmpty()) {
            return ApiRoutes.response(
                    new Problem(StatusCodes.BAD_REQUEST, "the request cannot be understood", problems));
        }
        return hub.join(new StreamHub.Wish(after, snapshots))
                .map(source -> ApiRoutes.secured(
                        HttpResponse.create().withEntity(HttpEntities.createChunked(EVENT_STREAM, source))))
                .orElseGet(() -> ApiRoutes.response(Problem.of(
                        StatusCodes.SERVICE_UNAVAILABLE,
                        hub.isClosed()
                                ? "node " + self + " stops"
                                : "as many watch already as this node allows: "
                                        + Counts.of(settings.maxReaders(), "reader")
                                        + " (ullage.http.stream.max-readers)")));
    }

    private StreamHub.Coordinator asking() {
        return new StreamHub.Coordinator() {
            @Override
            public CompletionStage<Optional<ClusterStatus>> status() {
                return ask(StatusQuery::new, ClusterStatus.class);
            }

            @Override
            public CompletionStage<Optional<Events>> events(Optional<EventId> after) {
                return ask(replyTo -> new EventsQuery(after, replyTo), Events.class);
            }

            @Override
            public CompletionStage<Optional<Requests>> queue() {
                return ask(
                        replyTo -> new RequestsQuery(Optional.empty(), OptionalInt.of(QueueJson.MOST), replyTo),
                        Requests.class);
            }
        };
    }

    private <T> CompletionStage<Optional<T>> ask(
            Function<ActorRef<ToOperator>, ToCoordinator> question, Class<T> expected) {
        Duration patience = ApiRoutes.ANSWER_WITHIN;
        return AskPattern.<ToCoordinator, ToOperator>ask(coordinator, question::apply, patience, system.scheduler())
                .handleAsync(
                        (answer, failure) ->
                                expected.isInstance(answer) ? Optional.of(expected.cast(answer)) : Optional.empty(),
                        system.executionContext());
    }
}
