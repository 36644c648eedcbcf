package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.EventId;
import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ClusterEvent;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DecisionsQuery;
import dev.ullage.common.protocol.ToCoordinator.EventsQuery;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.Decisions;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.Events;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import dev.ullage.common.testing.Eventually;
import dev.ullage.config.HttpSettings;
import dev.ullage.config.StreamSettings;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Events, stream and page over real sockets; the coordinator is an actor whose cluster changes with each question. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WatchApiTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int MANY_NODES = 400;

    private final ActorTestKit kit = ActorTestKit.create();
    private final HttpClient client = HttpClient.newHttpClient();
    private final AtomicInteger questions = new AtomicInteger();
    private final OperatorToken token;
    private final InetSocketAddress address;

    WatchApiTest(@TempDir Path stateDir) throws Exception {
        token = OperatorToken.loadOrCreate(stateDir);
        address = start(new StreamSettings(Duration.ofMillis(100), 1, 4));
    }

    @AfterAll
    void stop() {
        kit.shutdownTestKit();
    }

    private InetSocketAddress start(StreamSettings stream) throws Exception {
        ActorRef<ToCoordinator> coordinator = kit.spawn(Behaviors.receiveMessage(message -> {
            if (message instanceof StatusQuery query) {
                query.replyTo().tell(cluster(questions.incrementAndGet()));
            } else if (message instanceof EventsQuery query) {
                query.replyTo().tell(new Events(List.of(event(1, "bert"), event(2, "gpt")), true));
            } else if (message instanceof DecisionsQuery query) {
                String asked = "{\"device\":\"%s\",\"job\":\"%s\"}"
                        .formatted(
                                query.device().map(DeviceId::toString).orElse("any"),
                                query.job().map(JobId::toString).orElse("any"));
                query.replyTo().tell(new Decisions(List.of(asked), query.offset() + query.limit(), false));
            }
            return Behaviors.same();
        }));
        return HttpApi.start(
                        kit.system(),
                        new HttpSettings("127.0.0.1", 0, false, stream),
                        coordinator,
                        new NodeId("host-a"),
                        token,
                        new MetricsPage(false))
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS)
                .localAddress();
    }

    /** Every device is on another node with each question, so it changes. */
    private static ClusterStatus cluster(int number) {
        ClusterStatus one = Statuses.active(Statuses.deviceWithARank());
        List<NodeStatus> nodes = new ArrayList<>();
        for (int i = 0; i < MANY_NODES; i++) {
            DeviceStatus device = Statuses.named("GPU-" + i);
            nodes.add(new NodeStatus(new NodeId("host-" + number + "-" + i), 120, List.of(device)));
        }
        return new ClusterStatus(one.coordinator(), one.token(), one.state(), nodes, one.rollouts());
    }

    private static ClusterEvent event(long sequence, String job) {
        return new ClusterEvent(
                new EventId(3, sequence),
                1_767_225_600_000L,
                "limit-changed",
                EventSeverity.INFO,
                About.CLUSTER.withRank(new JobId(job), 0),
                "<b>text</b>");
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + address.getPort() + path));
    }

    private HttpResponse<String> get(String path) throws Exception {
        return client.send(request(path).build(), BodyHandlers.ofString());
    }

    private static String header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    @Test
    void eventsComeInPagesAndNarrowedDown() throws Exception {
        JsonNode all = JSON.readTree(get("/api/v1/events?limit=1").body());
        assertThat(all.path("total").asInt()).isEqualTo(2);
        assertThat(all.path("complete").asBoolean()).isTrue();
        assertThat(all.at("/items/0").toString())
                .isEqualTo("{\"id\":\"3.1\",\"time\":\"2026-01-01T00:00:00Z\",\"kind\":\"limit-changed\","
                        + "\"severity\":\"info\",\"node\":null,\"device\":null,\"job\":\"bert\",\"rank\":0,"
                        + "\"text\":\"<b>text</b>\"}");

        JsonNode some = JSON.readTree(get("/api/v1/events?job=gpt&since=3.1").body());
        assertThat(some.path("total").asInt()).isEqualTo(1);
        assertThat(some.at("/items/0/id").asText()).isEqualTo("3.2");
    }

    @Test
    void decisionsComeInPagesOfADeviceOrAJob() throws Exception {
        assertThat(get("/api/v1/decisions?offset=3&limit=7").body())
                .isEqualTo("{\"schema\":1,\"total\":10,\"offset\":3,\"limit\":7,\"complete\":false,"
                        + "\"items\":[{\"device\":\"any\",\"job\":\"any\"}]}\n");
        assertThat(JSON.readTree(get("/api/v1/decisions?device=GPU-1&job=bert").body())
                        .path("items")
                        .toString())
                .isEqualTo("[{\"device\":\"GPU-1\",\"job\":\"bert\"}]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/api/v1/decisions?limit=0",
                "/api/v1/decisions?rank=1",
                "/api/v1/events?since=yesterday",
                "/api/v1/events?jobb=x",
                "/api/v1/stream?snapshots=maybe",
                "/api/v1/stream?since=3.1"
            })
    void whatNobodyUnderstandsIsRefused(String path) throws Exception {
        HttpResponse<String> response = get(path);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(JSON.readTree(response.body()).path("errors")).hasSize(1);
    }

    @Test
    void theStreamIsOfServerSentEventsAndHasAnEndToItsReaders() throws Exception {
        HttpResponse<InputStream> stream = client.send(request("/api/v1/stream").build(), BodyHandlers.ofInputStream());
        try (InputStream body = stream.body()) {
            assertThat(stream.statusCode()).isEqualTo(200);
            assertThat(header(stream, "content-type")).startsWith("text/event-stream");
            assertThat(header(stream, "cache-control")).isEqualTo("no-store");
            assertThat(new String(body.readNBytes(15), StandardCharsets.UTF_8)).isEqualTo("event: snapshot");

            HttpResponse<String> second = get("/api/v1/stream");
            assertThat(second.statusCode()).isEqualTo(503);
            assertThat(second.body()).contains("ullage.http.stream.max-readers");
        }
        awaitRoom();
    }

    // Goal: who does not read is dropped. Method: the only place for a reader is free again.
    @Test
    void aReaderThatDoesNotReadLosesItsConnection() throws Exception {
        try (Socket socket = new Socket()) {
            socket.setReceiveBufferSize(4096);
            socket.connect(address);
            socket.getOutputStream()
                    .write("GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            Eventually.eventually("it has the place", () -> !isFree());
            awaitRoom();
        }
    }

    private void awaitRoom() {
        Eventually.eventually("there is room for a reader", this::isFree);
    }

    private boolean isFree() {
        try {
            HttpResponse<InputStream> stream =
                    client.send(request("/api/v1/stream?snapshots=off").build(), BodyHandlers.ofInputStream());
            stream.body().close();
            return stream.statusCode() == 200;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aReaderNamesTheLastEventItKnows() throws Exception {
        HttpResponse<String> wrong = client.send(
                request("/api/v1/stream").header("Last-Event-ID", "latest").build(), BodyHandlers.ofString());

        assertThat(wrong.statusCode()).isEqualTo(400);
        assertThat(wrong.body()).contains("Last-Event-ID");
    }

    @ParameterizedTest
    @CsvSource({
        "/, text/html; charset=UTF-8",
        "/page/main.js, text/javascript; charset=UTF-8",
        "/page/page.css, text/css; charset=UTF-8",
        "/page/uplot.js, text/javascript; charset=UTF-8",
        "/page/icon.svg, image/svg+xml"
    })
    void thePageMayRunNothingThatIsNotItsOwn(String path, String type) throws Exception {
        HttpResponse<String> response = get(path);

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(header(response, "content-type")).isEqualToIgnoringCase(type);
        assertThat(header(response, "x-content-type-options")).isEqualTo("nosniff");
        assertThat(header(response, "content-security-policy"))
                .startsWith("default-src 'none'; script-src 'self';")
                .doesNotContain("unsafe");
        HttpResponse<String> again = client.send(
                request(path).header("If-None-Match", header(response, "etag")).build(), BodyHandlers.ofString());
        assertThat(again.statusCode()).isEqualTo(304);
        assertThat(again.body()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/page/", "/page/other.js", "/page/..%2fmain.js", "/page/../../../../etc/passwd", "/main.js"})
    void otherFilesAreNotServed(String path) throws Exception {
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.getOutputStream()
                    .write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 404 ");
        }
    }

    // Goal: no name of anything becomes markup. Method: the ways to do so are not in the scripts at all.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "main.js",
                "stream.js",
                "model.js",
                "overview.js",
                "map.js",
                "device.js",
                "job.js",
                "events.js",
                "history.js",
                "chart.js",
                "format.js",
                "dom.js"
            })
    void noScriptOfThePageWritesMarkup(String file) throws Exception {
        assertThat(get("/page/" + file).body())
                .isNotEmpty()
                .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(");
    }

    @Test
    void theIndexHasNoScriptOrStyleInIt() throws Exception {
        String index = get("/").body();

        assertThat(index).doesNotContain("style=", "<style", "onclick", "javascript:");
        assertThat(index.split("<script", -1)).as("one script, a file").hasSize(2);
        assertThat(index).contains("src=\"/page/main.js\"");
    }
}
