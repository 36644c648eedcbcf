package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import dev.ullage.common.model.EventId;
import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.protocol.ClusterEvent;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.AccountsQuery;
import dev.ullage.common.protocol.ToCoordinator.CancelRequest;
import dev.ullage.common.protocol.ToCoordinator.DecisionsQuery;
import dev.ullage.common.protocol.ToCoordinator.DrainNode;
import dev.ullage.common.protocol.ToCoordinator.EventsQuery;
import dev.ullage.common.protocol.ToCoordinator.HistoryQuery;
import dev.ullage.common.protocol.ToCoordinator.ReleaseCaches;
import dev.ullage.common.protocol.ToCoordinator.RequestsQuery;
import dev.ullage.common.protocol.ToCoordinator.RequeueRequest;
import dev.ullage.common.protocol.ToCoordinator.SetLimit;
import dev.ullage.common.protocol.ToCoordinator.SetPolicy;
import dev.ullage.common.protocol.ToCoordinator.SetPriority;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.common.protocol.ToCoordinator.UndrainNode;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.Decisions;
import dev.ullage.common.protocol.ToOperator.Events;
import dev.ullage.common.protocol.ToOperator.History;
import dev.ullage.common.protocol.ToOperator.HistoryRow;
import dev.ullage.common.protocol.ToOperator.NotKnown;
import dev.ullage.common.protocol.ToOperator.RankHistory;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.common.protocol.ToOperator.RequestRefused;
import dev.ullage.common.protocol.ToOperator.Requests;
import dev.ullage.config.HttpSettings;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The document that describes the API, held against the API itself. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OpenApiTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String A_FILE_OF_THE_PAGE = "/page/{file}";
    private static final String A_JOB = "{job}";
    private static final String A_DECISION =
            """
            {"schema":1,"kind":"operator","number":7,"time":"2026-01-01T00:00:00Z","token":{"epoch":3,"uid":"u"},
             "device":null,"jobs":["bert"],"reason":"share -> 50%","planning":null}""";

    private static final String NEW_REQUEST =
            """
            {"submitter":"me","waitedMillis":5000,"running":false,"room":null,"ranMillis":7,"ranks":2,"memoryPerRank":"20GiB",
             "ranksPerDevice":2,"priority":"high","extent":"same-node","node":null,"model":"*H100*","mig":null,
             "hostMemory":"64GiB","cpus":0.5,"runsFor":"2h"}""";

    private final ActorTestKit kit = ActorTestKit.create();
    private final HttpClient client = HttpClient.newHttpClient();
    private final OperatorToken token;
    private final String base;
    private final JsonNode document;

    OpenApiTest(@TempDir Path stateDir) throws Exception {
        token = OperatorToken.loadOrCreate(stateDir);
        ActorRef<ToCoordinator> coordinator = kit.spawn(Behaviors.receiveMessage(message -> {
            answer(message);
            return Behaviors.same();
        }));
        base = "http://127.0.0.1:"
                + HttpApi.start(
                                kit.system(),
                                new HttpSettings("127.0.0.1", 0, false),
                                coordinator,
                                new NodeId("host-a"),
                                token,
                                new MetricsPage(false))
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS)
                        .localAddress()
                        .getPort();
        document = JSON.readTree(get("/api/v1/openapi.json").body());
    }

    /**
     * Devices and ranks of which everything is known, and some of which nothing is; every write but one is accepted.
     */
    private static void answer(ToCoordinator message) {
        if (message instanceof StatusQuery query) {
            NeedsRestart needs =
                    new NeedsRestart(MemoryBytes.ofGibibytes(64), MemoryBytes.ofGibibytes(32), "TensorFlow cannot");
            query.replyTo()
                    .tell(Statuses.withWishes(Statuses.active(
                            Statuses.deviceWithARank(),
                            Statuses.deviceWithARankThatNeedsARestart(needs),
                            Statuses.deviceWithASilentRank(),
                            Statuses.silentDevice())));
        } else if (message instanceof EventsQuery query) {
            ClusterEvent event = new ClusterEvent(
                    new EventId(3, 1), 1_700_000_000_000L, "kind", EventSeverity.INFO, ClusterEvent.About.CLUSTER, "t");
            query.replyTo().tell(new Events(List.of(event), true));
        } else if (message instanceof SetReserve reserve) {
            reserve.replyTo().tell(new Accepted("done"));
        } else if (message instanceof SetShare share) {
            share.replyTo().tell(new Refused("not possible"));
        } else if (message instanceof UndrainNode undrain) {
            undrain.replyTo().tell(new Refused("refused no node b; known: a", Optional.of(new NotKnown("node"))));
        } else if (message instanceof SetPolicy policy) {
            policy.replyTo().tell(new Accepted("done"));
        } else if (message instanceof SetPriority priority) {
            priority.replyTo().tell(new Accepted("done"));
        } else if (message instanceof SetLimit limit) {
            limit.replyTo().tell(new Refused("no room"));
        } else if (message instanceof DrainNode drain) {
            drain.replyTo().tell(new Accepted("done"));
        } else if (message instanceof ReleaseCaches release) {
            release.replyTo().tell(new Accepted("asked"));
        } else if (message instanceof HistoryQuery query) {
            RankHistory rank = new RankHistory(
                    Statuses.RANK, Optional.of(Phase.FORWARD), Optional.empty(), Optional.empty(), Optional.empty());
            HistoryRow row = new HistoryRow(
                    1, Optional.of(MemoryBytes.of(7)), Optional.empty(), Optional.empty(), List.of(rank));
            query.replyTo().tell(new History(List.of(row), 1));
        } else if (message instanceof AccountsQuery query) {
            query.replyTo().tell(ReportApiTest.accounts());
        } else if (message instanceof RequestsQuery query) {
            query.replyTo().tell(new Requests(List.of(Statuses.request())));
        } else if (message instanceof SubmitRequest submit) {
            submit.replyTo().tell(new Requests(List.of(Statuses.request())));
        } else if (message instanceof CancelRequest cancel) {
            cancel.replyTo()
                    .tell(new RequestRefused(
                            List.of("no request of job bert; known: none"), Optional.of(new NotKnown("job"))));
        } else if (message instanceof RequeueRequest requeue) {
            requeue.replyTo().tell(new Accepted("it is at the end of the queue"));
        } else if (message instanceof DecisionsQuery query) {
            query.replyTo().tell(new Decisions(List.of(A_DECISION), 1, true));
        }
    }

    @AfterAll
    void stop() {
        kit.shutdownTestKit();
    }

    // Goal: no route without a description, and none described that is not there. Method: the server lists its paths
    // where there is nothing, and the methods of each where the method is wrong.
    @Test
    void everyPathAndMethodIsDescribedAndNoOther() throws Exception {
        String nothing = JSON.readTree(get("/nothing").body()).path("detail").asText();
        Map<String, Set<String>> there = new TreeMap<>();
        for (String path : nothing.substring(nothing.indexOf("known: ") + 7).split(", ")) {
            HttpResponse<String> response = send("PATCH", path, "");
            assertThat(response.statusCode()).as(path).isEqualTo(405);
            there.put(
                    path,
                    new TreeSet<>(List.of(
                            response.headers().firstValue("Allow").orElseThrow().split(", "))));
        }
        Map<String, Set<String>> described = new TreeMap<>();
        document.path("paths").properties().forEach(path -> {
            Set<String> methods = new TreeSet<>();
            path.getValue().fieldNames().forEachRemaining(name -> methods.add(name.toUpperCase(Locale.ROOT)));
            described.put(path.getKey().replace(A_JOB, "JOB"), methods);
        });

        assertThat(described.remove(A_FILE_OF_THE_PAGE)).containsExactly("GET");
        assertThat(described.remove("/report/JOB")).containsExactly("GET");
        assertThat(described).isEqualTo(there);
    }

    @Test
    void eachPathThatIsReadAnswersAsDescribed() throws Exception {
        for (Map.Entry<String, JsonNode> path : document.path("paths").properties()) {
            JsonNode described = path.getValue().at("/get/responses/200/content");
            if (path.getValue().has("get")) {
                String filled = path.getKey().replace("{file}", "main.js").replace("{job}", "bert");
                assertReads(filled + needed(path.getKey()), described);
            }
        }
    }

    /** The parameter without which it is refused. */
    private static String needed(String path) {
        return switch (path) {
            case "/api/v1/history" -> "?device=GPU-1";
            case ReportRoutes.PATH -> "?job=bert";
            default -> "";
        };
    }

    private void assertReads(String path, JsonNode described) throws Exception {
        String type = described.fieldNames().next();
        HttpResponse<InputStream> response = client.send(
                HttpRequest.newBuilder(URI.create(base + path)).build(), HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream body = response.body()) {
            assertThat(response.statusCode()).as(path).isEqualTo(200);
            assertThat(response.headers().firstValue("Content-Type").orElse(""))
                    .as(path)
                    .startsWith(type);
            if (type.equals("application/json")) {
                JsonNode json = JSON.readTree(new String(body.readAllBytes(), StandardCharsets.UTF_8));
                assertMatches(path, described.path(type).path("schema"), json);
            }
        }
    }

    @Test
    void eachWriteAnswersAsDescribed() throws Exception {
        assertWrite("/api/v1/reserve", "{\"reserve\":\"30%\",\"device\":null}", 200);
        assertWrite("/api/v1/share", "{\"job\":\"bert\",\"rank\":3,\"share\":0.5}", 409);
        assertWrite("/api/v1/share", "{\"job\":7}", 400);
        assertWrite("/api/v1/release", "{\"job\":\"bert\",\"rank\":null}", 200);
        assertWrite("/api/v1/policy", "{\"job\":\"bert\",\"policy\":\"growth\"}", 200);
        assertWrite("/api/v1/policy", "{\"job\":\"bert\"}", 400);
        assertWrite("/api/v1/priority", "{\"job\":\"bert\",\"priority\":null}", 200);
        assertWrite("/api/v1/priority", "{\"job\":\"bert\",\"priority\":\"hihg\"}", 400);
        assertWrite("/api/v1/limit", "{\"job\":\"bert\",\"rank\":3,\"limit\":\"30GiB\"}", 409);
        assertWrite("/api/v1/limit", "{\"job\":\"bert\",\"limit\":-1}", 400);
        assertWrite("/api/v1/drain", "{\"node\":\"host-a\",\"reason\":\"fan\",\"by\":\"ann\"}", 200);
        assertWrite("/api/v1/drain", "{\"node\":\"host-a\",\"reason\":\"two\\nlines\"}", 400);
        assertWrite("/api/v1/undrain", "{\"node\":\"host-a\"}", 404);
        assertWrite("PUT", "/api/v1/requests/{job}", NEW_REQUEST, 200);
        assertWrite("PUT", "/api/v1/requests/{job}", "{\"submitter\":\"me\",\"ranks\":-1}", 400);
        assertWrite("DELETE", "/api/v1/requests/{job}", "", 404);
        assertWrite("POST", "/api/v1/requests/{job}/requeue", "", 200);
        long writes = document.path("paths").properties().stream()
                .flatMap(path -> Stream.of("post", "put", "delete")
                        .filter(method -> path.getValue().has(method)))
                .count();
        assertThat(writes)
                .as("writes that this test knows")
                .isEqualTo(WriteBody.all().size() + 3)
                .isEqualTo(11);
    }

    @Test
    void whetherAJobHasEndedIsTrueOrFalse() throws Exception {
        HttpResponse<String> response = send("DELETE", "/api/v1/requests/bert?ended=maybe", "");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains("ended must be true or false");
        assertThat(send("DELETE", "/api/v1/requests/bert?ended=true", "").statusCode())
                .isEqualTo(404);
    }

    private void assertWrite(String path, String body, int status) throws Exception {
        assertWrite("POST", path, body, status);
    }

    private void assertWrite(String method, String path, String body, int status) throws Exception {
        JsonNode described = document.path("paths").path(path).path(method.toLowerCase(Locale.ROOT));
        if (status != 400 && !body.isEmpty()) {
            assertMatches(
                    path + " body", described.at("/requestBody/content/application~1json/schema"), JSON.readTree(body));
        }
        HttpResponse<String> response = send(method, path.replace(A_JOB, "bert"), body);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        JsonNode content =
                described.path("responses").path(Integer.toString(status)).path("content");
        String type = content.fieldNames().next();
        assertThat(response.headers().firstValue("Content-Type").orElse("")).startsWith(type);
        assertMatches(path + " " + status, content.path(type).path("schema"), JSON.readTree(response.body()));
    }

    @Test
    void whatIsLeftOutOfTheDescriptionWouldBeNoticed() throws Exception {
        ObjectNode answer = (ObjectNode) JSON.readTree(get("/api/v1/jobs").body());
        ObjectNode more = answer.deepCopy().put("surprise", 1);
        ObjectNode less = answer.deepCopy();
        less.remove("total");

        assertThat(problems(reference("Jobs"), answer)).isEmpty();
        assertThat(problems(reference("Jobs"), more)).hasSize(1);
        assertThat(problems(reference("Jobs"), less)).hasSize(1);
    }

    private static ObjectNode reference(String name) {
        return JsonNodeFactory.instance.objectNode().put("$ref", "#/components/schemas/" + name);
    }

    private void assertMatches(String what, JsonNode schema, JsonNode json) {
        assertThat(problems(schema, json)).as("%s answered %s", what, json).isEmpty();
    }

    /** Held strictly: a field that is not described is a problem too. */
    private List<String> problems(JsonNode schema, JsonNode json) {
        ObjectNode whole = ((ObjectNode) schema).deepCopy();
        whole.set("components", document.path("components").deepCopy());
        forbidOthers(whole);
        return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012).getSchema(whole).validate(json).stream()
                .map(Object::toString)
                .toList();
    }

    private static void forbidOthers(JsonNode schema) {
        if (schema instanceof ObjectNode object && object.path("properties").isObject() && object.has("type")) {
            object.put("additionalProperties", false);
        }
        schema.forEach(OpenApiTest::forbidOthers);
    }

    private HttpResponse<String> get(String path) throws Exception {
        return send("GET", path, "");
    }

    private HttpResponse<String> send(String method, String path, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path))
                .header("Authorization", "Bearer " + token.secret())
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void referencesPointAtSomething() {
        assertThat(new TreeSet<>(document.findValuesAsText("$ref")))
                .isNotEmpty()
                .allSatisfy(reference -> assertThat(
                                document.at(reference.substring(1)).isMissingNode())
                        .as(reference)
                        .isFalse());
    }
}
