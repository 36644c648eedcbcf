package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.ReleaseCaches;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.config.HttpSettings;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.io.ByteArrayInputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The real server over a real socket; an actor that answers as it is told stands in for the coordinator. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HttpApiTest {
    private static final JsonMapper JSON = new JsonMapper();

    private final ActorTestKit kit = ActorTestKit.create();
    private final HttpClient client = HttpClient.newHttpClient();
    private final TestProbe<ToCoordinator> asked = kit.createTestProbe();
    private final OperatorToken token;
    private final InetSocketAddress address;
    private volatile Optional<ToOperator> answer = Optional.empty();

    HttpApiTest(@TempDir Path stateDir) throws Exception {
        token = OperatorToken.loadOrCreate(stateDir);
        address = start(new HttpSettings("127.0.0.1", 0, false));
    }

    @BeforeEach
    void answerNothing() {
        answer = Optional.empty();
    }

    @AfterAll
    void stop() {
        kit.shutdownTestKit();
    }

    @Test
    void theStatusIsWhatTheCoordinatorSays() throws Exception {
        answer = Optional.of(Statuses.active(Statuses.deviceWithARank()));

        HttpResponse<String> response = get("/api/v1/status");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(header(response, "content-type")).isEqualTo("application/json");
        assertThat(header(response, "cache-control")).isEqualTo("no-store");
        assertThat(json(response).at("/nodes/0/devices/0/ranks/0/job").asText()).isEqualTo("bert");
        assertThat(json(response).path("time").asText()).endsWith("Z");
    }

    @Test
    void withoutACoordinatorTheStatusIsUnavailable() throws Exception {
        HttpResponse<String> response = get("/api/v1/status");

        assertProblem(response, 503, "no coordinator answered node host-a within 2 s");
    }

    @ParameterizedTest
    @ValueSource(strings = {"nodes", "devices", "jobs", "ranks"})
    void eachListIsThereInPages(String list) throws Exception {
        answer = Optional.of(Statuses.active(Statuses.deviceWithARank()));

        HttpResponse<String> all = get("/api/v1/" + list + "?limit=1");
        HttpResponse<String> none = get("/api/v1/" + list + "?offset=1");

        assertThat(all.statusCode()).isEqualTo(200);
        assertThat(json(all).path("total").asInt()).isEqualTo(1);
        assertThat(json(all).path("items")).hasSize(1);
        assertThat(json(none).path("items")).isEmpty();
    }

    @Test
    void aListThatIsAskedForInAWayNobodyUnderstandsIsRefused() throws Exception {
        answer = Optional.of(Statuses.active());

        HttpResponse<String> response = get("/api/v1/ranks?jobb=x&limit=0");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(json(response).path("errors")).hasSize(2);
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.getOutputStream()
                    .write("GET /api/v1/ranks?job=%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                    .startsWith("HTTP/1.1 400 ");
        }
    }

    @Test
    void theMetricsAreTextThatPrometheusReads() throws Exception {
        answer = Optional.of(Statuses.active(Statuses.deviceWithARank()));
        InetSocketAddress fresh = start(new HttpSettings("127.0.0.1", 0, true));

        HttpResponse<String> response =
                send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + fresh.getPort() + "/metrics")));

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(header(response, "content-type").replace(" ", ""))
                .isEqualToIgnoringCase("text/plain;version=0.0.4;charset=utf-8");
        assertThat(header(response, "cache-control")).isEqualTo("no-store");
        assertThat(response.body())
                .contains("\nullage_coordinator_up 1.0\n", "\njvm_memory_used_bytes", "\nDCGM_FI_DEV_FB_USED{");
    }

    @Test
    void withoutACoordinatorTheMetricsSayThatAndNoMore() throws Exception {
        InetSocketAddress fresh = start(new HttpSettings("127.0.0.1", 0, false));

        HttpResponse<String> response =
                send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + fresh.getPort() + "/metrics")));

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body().lines().filter(line -> line.startsWith("ullage_")))
                .containsExactly(
                        "ullage_coordinator_up 0.0",
                        "ullage_decision_records_dropped_total 0.0",
                        "ullage_decision_records_written_total 0.0");
    }

    @Test
    void theServerLivesWithoutACoordinator() throws Exception {
        assertThat(get("/health/live").statusCode()).isEqualTo(200);
    }

    @Test
    void onlyAnActiveCoordinatorIsReady() throws Exception {
        answer = Optional.of(Statuses.empty());
        assertProblem(get("/health/ready"), 503, "the coordinator on host-a is CLAIMING");

        answer = Optional.of(Statuses.active());
        assertThat(get("/health/ready").statusCode()).isEqualTo(200);
    }

    @Test
    void aReserveIsPassedOnForAllDevicesOrForOne() throws Exception {
        answer = Optional.of(new Accepted("reserve of all devices: 25%"));

        HttpResponse<String> all = post("/api/v1/reserve", "{\"reserve\":\"25%\",\"device\":null}");
        SetReserve first = asked.expectMessageClass(SetReserve.class);
        post("/api/v1/reserve", "{\"reserve\":0.125,\"device\":\"GPU-1\"}");
        SetReserve second = asked.expectMessageClass(SetReserve.class);

        assertThat(all.statusCode()).isEqualTo(200);
        assertThat(json(all).path("message").asText()).isEqualTo("reserve of all devices: 25%");
        assertThat(first.device()).isEmpty();
        assertThat(first.reserve()).isEqualTo(Share.ofPercent(25));
        assertThat(second.device()).contains(new DeviceId("GPU-1"));
        assertThat(second.reserve()).isEqualTo(new Share(1250));
    }

    @Test
    void aShareIsPassedOnForAJobOrForOneRank() throws Exception {
        answer = Optional.of(new Accepted("done"));

        post("/api/v1/share", "{\"job\":\"bert\",\"share\":\"50%\"}");
        SetShare job = asked.expectMessageClass(SetShare.class);
        post("/api/v1/share", "{\"job\":\"bert\",\"rank\":3,\"share\":\"50%\"}");
        SetShare rank = asked.expectMessageClass(SetShare.class);

        assertThat(job.job()).isEqualTo(new JobId("bert"));
        assertThat(job.rank()).isEmpty();
        assertThat(rank.rank()).isEqualTo(OptionalInt.of(3));
    }

    @Test
    void cachesAreAskedForOfAJobOrOfOneRank() throws Exception {
        answer = Optional.of(new Accepted("done"));

        post("/api/v1/release", "{\"job\":\"bert\"}");
        assertThat(asked.expectMessageClass(ReleaseCaches.class).rank()).isEmpty();
        post("/api/v1/release", "{\"job\":\"bert\",\"rank\":3}");
        assertThat(asked.expectMessageClass(ReleaseCaches.class).rank()).isEqualTo(OptionalInt.of(3));
        assertProblem(post("/api/v1/release", "{\"rank\":3}"), 400, "the request cannot be understood");
    }

    @Test
    void whatTheCoordinatorRefusesIsAConflictWithItsReason() throws Exception {
        answer = Optional.of(new Refused("no device GPU-9"));

        assertProblem(post("/api/v1/reserve", "{\"reserve\":\"25%\",\"device\":\"GPU-9\"}"), 409, "no device GPU-9");
        asked.expectMessageClass(SetReserve.class);
    }

    @Test
    void everythingThatIsWrongWithARequestIsSaidAtOnce() throws Exception {
        HttpResponse<String> response =
                post("/api/v1/share", "{\"job\":\" \",\"rank\":-1,\"share\":\"150%\",\"shar\":1}");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(json(response).path("errors"))
                .extracting(JsonNode::asText)
                .satisfiesExactly(
                        first -> assertThat(first).isEqualTo("unknown field \"shar\"; known: job, rank, share"),
                        second -> assertThat(second).isEqualTo("job: a job's name must not be blank"),
                        third -> assertThat(third).isEqualTo("rank must be a whole number of 0 or more"),
                        fourth -> assertThat(fourth).startsWith("share: share '150%' is more than 100%"));
        asked.expectNoMessage(Duration.ZERO);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            [1]                                    | the body must be a JSON object
            {"reserve":"1%"                        | the body is not JSON: Unexpected end-of-input: expected close marker for Object (line 1, column 16)
            {"reserve":"1%"} {}                    | the body is not JSON
            {"reserve":"1%","reserve":"2%"}        | the body is not JSON
            {"reserve":NaN}                        | the body is not JSON
            {}                                     | reserve must be a share such as "25%"
            {"reserve":null}                       | reserve must be a share such as "25%"
            {"reserve":true}                       | reserve must be a share such as "25%"
            {"reserve":"NaN"}                      | reserve: share 'NaN'
            {"reserve":-0.1}                       | reserve: share '-0.1'
            {"reserve":"1%","device":7}            | device must be text
            {"reserve":"1%","device":""}           | device: a device's UUID must not be blank
            """)
    void aBodyThatIsNoReserveIsRefused(String body, String error) throws Exception {
        HttpResponse<String> response = post("/api/v1/reserve", body);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(json(response).path("errors")).singleElement().satisfies(only -> assertThat(only.asText())
                .startsWith(error));
    }

    @ParameterizedTest
    @CsvSource({"/api/v1/reserve", "/api/v1/share", "/api/v1/release"})
    void nothingIsChangedWithoutTheToken(String path) throws Exception {
        HttpResponse<String> none = send(request(path).POST(HttpRequest.BodyPublishers.ofString("{}")));
        HttpResponse<String> wrong =
                send(request(path).header("Authorization", "Bearer x").POST(HttpRequest.BodyPublishers.ofString("{}")));

        assertProblem(none, 401, "changes need the header");
        assertProblem(wrong, 401, "this is not the token");
        assertThat(header(none, "www-authenticate")).isEqualTo("Bearer realm=\"ullage\"");
        asked.expectNoMessage(Duration.ZERO);
    }

    @Test
    void aPageOfAnotherSiteIsRefusedEvenWithTheToken() throws Exception {
        HttpResponse<String> response = send(authorized("/api/v1/reserve")
                .header("Origin", "http://evil.example")
                .POST(HttpRequest.BodyPublishers.ofString("{\"reserve\":\"1%\"}")));

        assertProblem(response, 403, "a page of http://evil.example may not use this server");
    }

    @Test
    void anotherNameForThisAddressIsNotAnsweredFor() throws Exception {
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.getOutputStream()
                    .write("GET /api/v1/status HTTP/1.1\r\nHost: rebind.example\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            String response = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);

            assertThat(response)
                    .startsWith("HTTP/1.1 421 ")
                    .contains("does not answer for the name \\\"rebind.example\\\"");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLargeBodyIsRefusedWhetherItsLengthIsSaidOrNot(boolean isLengthSaid) throws Exception {
        byte[] body = " ".repeat(ApiRoutes.MAX_BODY_BYTES + 1).getBytes(StandardCharsets.US_ASCII);

        HttpResponse<String> response = send(authorized("/api/v1/reserve")
                .POST(
                        isLengthSaid
                                ? HttpRequest.BodyPublishers.ofByteArray(body)
                                : HttpRequest.BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body))));

        assertProblem(response, 413, "the body must not have more than 16384 bytes");
    }

    @Test
    void aBodyThatIsNoJsonByItsTypeIsRefused() throws Exception {
        HttpResponse<String> response = send(request("/api/v1/reserve")
                .header("Authorization", "Bearer " + token.secret())
                .header("Content-Type", "text/plain")
                .POST(HttpRequest.BodyPublishers.ofString("{\"reserve\":\"1%\"}")));

        assertProblem(response, 415, "the body must be of type application/json");
    }

    @Test
    void unknownPathsAndMethodsAreProblemsToo() throws Exception {
        assertProblem(
                get("/api/v2/status"), 404, "there is nothing here; known: /, /api/v1/cluster, /api/v1/decisions, ");
        HttpResponse<String> response = post("/api/v1/status", "{}");
        assertProblem(response, 405, "only GET is possible here");
        assertThat(header(response, "allow")).isEqualTo("GET");
    }

    @Test
    void anAddressThatOtherMachinesReachIsRefusedAndTheSettingNamed() {
        assertThatThrownBy(() -> start(new HttpSettings("0.0.0.0", 0, false)))
                .hasCauseInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ullage.http.host = 0.0.0.0 must be a loopback address")
                .hasMessageContaining("there is not TLS")
                .hasMessageContaining("a credential (ullage.http.read-token-file)");
    }

    @Test
    void aPortThatIsTakenIsNamed() {
        assertThatThrownBy(() -> start(new HttpSettings("127.0.0.1", address.getPort(), false)))
                .hasCauseInstanceOf(BindException.class)
                .hasMessageContaining("cannot listen on 127.0.0.1:" + address.getPort());
    }

    private InetSocketAddress start(HttpSettings settings) throws Exception {
        ActorRef<ToCoordinator> coordinator = kit.spawn(Behaviors.receiveMessage(message -> {
            if (message instanceof StatusQuery query) {
                answer.ifPresent(query.replyTo()::tell);
            } else {
                asked.getRef().tell(message);
            }
            if (message instanceof SetReserve reserve) {
                answer.ifPresent(reserve.replyTo()::tell);
            }
            if (message instanceof SetShare share) {
                answer.ifPresent(share.replyTo()::tell);
            }
            if (message instanceof ReleaseCaches ask) {
                answer.ifPresent(ask.replyTo()::tell);
            }
            return Behaviors.same();
        }));
        return HttpApi.start(
                        kit.system(),
                        settings,
                        coordinator,
                        new NodeId("host-a"),
                        token,
                        new MetricsPage(settings.dcgmAliases()))
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS)
                .localAddress();
    }

    private static void assertProblem(HttpResponse<String> response, int status, String detail) throws Exception {
        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(header(response, "content-type")).isEqualTo("application/problem+json");
        assertThat(json(response).path("status").intValue()).isEqualTo(status);
        assertThat(json(response).path("detail").asText()).startsWith(detail);
    }

    private HttpResponse<String> get(String path) throws Exception {
        return send(request(path).GET());
    }

    private HttpResponse<String> post(String path, String body) throws Exception {
        return send(authorized(path).POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    private HttpRequest.Builder authorized(String path) {
        return request(path)
                .header("Authorization", "Bearer " + token.secret())
                .header("Content-Type", "application/json");
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + address.getPort() + path));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String header(HttpResponse<String> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    private static JsonNode json(HttpResponse<String> response) throws Exception {
        return JSON.readTree(response.body());
    }
}
