package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.JobId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.CancelRequest;
import dev.ullage.common.protocol.ToCoordinator.RequestsQuery;
import dev.ullage.common.protocol.ToCoordinator.RequeueRequest;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.NotKnown;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.common.protocol.ToOperator.RequestRefused;
import dev.ullage.common.protocol.ToOperator.Requests;
import dev.ullage.coordinator.admission.RequestReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;

/** What is done for {@code /api/v1/requests}: reads, asks the coordinator wherever it is, and answers. */
final class RequestApi {
    private static final String SUBMITTER = "submitter";
    private static final String WAITED = "waitedMillis";
    private static final String RUNNING = "running";
    private static final String ROOM = "room";
    private static final String RAN = "ranMillis";
    private static final int MAX_SUBMITTER = 200;
    private static final int MAX_ROOM = 400;
    private static final SortedSet<String> FIELDS = fields();

    private final Coordinator coordinator;

    RequestApi(Coordinator coordinator) {
        this.coordinator = coordinator;
    }

    /** Asks it; answers with a problem where it does not. */
    interface Coordinator {
        CompletionStage<HttpResponse> ask(
                Function<ActorRef<ToOperator>, ToCoordinator> message, Function<ToOperator, HttpResponse> onAnswer);
    }

    private static SortedSet<String> fields() {
        SortedSet<String> fields = new TreeSet<>(RequestReader.FIELDS);
        fields.addAll(List.of(SUBMITTER, WAITED, RUNNING, ROOM, RAN));
        return fields;
    }

    CompletionStage<HttpResponse> list() {
        return coordinator.ask(
                replyTo -> new RequestsQuery(Optional.empty(), replyTo),
                answer -> answer instanceof Requests requests
                        ? ApiRoutes.json(RequestJson.list(requests.states()))
                        : other(answer));
    }

    CompletionStage<HttpResponse> one(String name) {
        return withJob(
                name,
                job -> coordinator.ask(
                        replyTo -> new RequestsQuery(Optional.of(job), replyTo), answer -> found(job, answer)));
    }

    private static HttpResponse found(JobId job, ToOperator answer) {
        if (!(answer instanceof Requests requests)) {
            return other(answer);
        }
        return requests.states().stream()
                .findFirst()
                .map(state -> ApiRoutes.json(RequestJson.of(state, requests)))
                .orElseGet(() -> ApiRoutes.response(Problem.refused(
                        "no request of job " + job + " is known; GET /api/v1/requests shows those that are",
                        Optional.of(new NotKnown("job")))));
    }

    CompletionStage<HttpResponse> submit(String name, String text) {
        return withJob(name, job -> {
            RequestBody body = RequestBody.parse(text, FIELDS);
            String submitter =
                    body.name(SUBMITTER, value -> plain(value, MAX_SUBMITTER)).orElse("?");
            long waited = body.optionalAmount(WAITED).orElse(0);
            boolean running = body.optionalFlag(RUNNING);
            Optional<String> room = body.optionalName(ROOM, value -> plain(value, MAX_ROOM));
            OptionalLong ran = body.optionalAmount(RAN);
            Map<String, Object> values = new LinkedHashMap<>(body.values());
            values.keySet().retainAll(RequestReader.FIELDS);
            RequestReader.Reading reading = RequestReader.read(job, submitter, values);
            List<String> problems = new ArrayList<>(body.problems());
            if (body.isReadable()) {
                problems.addAll(reading.problems());
            }
            if (!problems.isEmpty() || reading.request().isEmpty()) {
                return refused(problems);
            }
            return coordinator.ask(
                    replyTo -> new SubmitRequest(reading.request().orElseThrow(), waited, running, replyTo, room, ran),
                    answer -> found(job, answer));
        });
    }

    private static String plain(String text, int most) {
        if (text.isBlank() || text.length() > most || text.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    "must have 1 to " + most + " characters, none of them a control character");
        }
        return text;
    }

    /** @param said whether the job has come to its end by itself, as text: true or false; empty: it has not */
    CompletionStage<HttpResponse> cancel(String name, Optional<String> said) {
        String ended = said.orElse("false");
        if (!ended.equals("true") && !ended.equals("false")) {
            return refused(List.of("ended must be true or false"));
        }
        return withJob(
                name,
                job -> coordinator.ask(
                        replyTo -> new CancelRequest(job, Boolean.parseBoolean(ended), replyTo), RequestApi::done));
    }

    CompletionStage<HttpResponse> requeue(String name) {
        return withJob(name, job -> coordinator.ask(replyTo -> new RequeueRequest(job, replyTo), RequestApi::done));
    }

    private static HttpResponse done(ToOperator answer) {
        if (answer instanceof Accepted accepted) {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            return ApiRoutes.json(json.put("schema", StatusJson.SCHEMA).put("message", accepted.message()));
        }
        return other(answer);
    }

    /** A coordinator that refuses everything will not for long; one that refuses this will not do it. */
    private static HttpResponse other(ToOperator answer) {
        if (answer instanceof RequestRefused refused) {
            return ApiRoutes.response(
                    Problem.refused("refused: " + String.join("; ", refused.reasons()), refused.notKnown()));
        }
        return answer instanceof Refused refused
                ? ApiRoutes.response(Problem.of(StatusCodes.SERVICE_UNAVAILABLE, refused.message()))
                : ApiRoutes.unexpected(answer);
    }

    private static CompletionStage<HttpResponse> withJob(
            String name, Function<JobId, CompletionStage<HttpResponse>> action) {
        JobId job;
        try {
            job = new JobId(name);
        } catch (IllegalArgumentException e) {
            return refused(List.of("job: " + e.getMessage()));
        }
        return action.apply(job);
    }

    private static CompletionStage<HttpResponse> refused(List<String> problems) {
        return CompletableFuture.completedStage(
                ApiRoutes.response(new Problem(StatusCodes.BAD_REQUEST, "the request cannot be understood", problems)));
    }
}
