package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.config.HttpAccess;
import dev.ullage.config.HttpSettings;
import dev.ullage.config.StreamSettings;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
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

/** The real server where who reads must show a token. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReadAccessTest {
    private final ActorTestKit kit = ActorTestKit.create();
    private final HttpClient client = HttpClient.newHttpClient();
    private final Path folder;
    private final OperatorToken operator;
    private final int port;

    ReadAccessTest(@TempDir Path folder) throws Exception {
        this.folder = folder;
        this.operator = OperatorToken.loadOrCreate(folder.resolve("state"));
        this.port = start(folder.resolve("made/read.token"));
    }

    private int start(Path readToken) throws Exception {
        ActorRef<ToCoordinator> coordinator = kit.spawn(Behaviors.receiveMessage(message -> {
            if (message instanceof StatusQuery query) {
                query.replyTo().tell(Statuses.active(Statuses.deviceWithARank()));
            }
            return Behaviors.same();
        }));
        HttpAccess access = new HttpAccess(Optional.empty(), Optional.of(readToken));
        return HttpApi.start(
                        kit.system(),
                        new HttpSettings("127.0.0.1", 0, false, StreamSettings.defaults(), access),
                        coordinator,
                        new NodeId("host-a"),
                        operator,
                        new MetricsPage(false))
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS)
                .localAddress()
                .getPort();
    }

    @AfterAll
    void stop() {
        kit.shutdownTestKit();
    }

    private HttpResponse<String> get(String path, String authorization) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
        if (!authorization.isEmpty()) {
            request.header("Authorization", authorization);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private String made() throws Exception {
        return Files.readString(folder.resolve("made/read.token")).strip();
    }

    @Test
    void theFileThatWasNotThereIsMadeForItsUserOnly() throws Exception {
        assertThat(made()).hasSize(43).isNotEqualTo(operator.secret());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("made/read.token"))))
                .isEqualTo("rw-------");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/api/v1/status",
                "/api/v1/jobs",
                "/api/v1/events",
                "/api/v1/stream",
                "/metrics",
                "/nothing",
                "/pages",
                "/page/../api/v1/status",
                "/%61pi/v1/status"
            })
    void nothingIsShownWithoutTheToken(String path) throws Exception {
        HttpResponse<String> without = get(path, "");

        assertThat(without.statusCode()).isIn(401, 404);
        assertThat(without.body()).doesNotContain("bert", "host-a");
        assertThat(without.statusCode() == 401 || path.contains("..")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Bearer", "Bearer wrong", "Basic dTpw"})
    void aWrongTokenIsAsGoodAsNone(String authorization) throws Exception {
        HttpResponse<String> response = get("/api/v1/status", authorization);

        assertThat(response.statusCode()).isEqualTo(401);
        assertThat(response.headers().firstValue("WWW-Authenticate").orElse("")).startsWith("Bearer ");
    }

    @Test
    void theReadTokenAndTheOperatorsShowEverything() throws Exception {
        assertThat(get("/api/v1/status", "Bearer " + made()).body()).contains("bert");
        assertThat(get("/api/v1/status", "bearer " + operator.secret()).statusCode())
                .isEqualTo(200);
        assertThat(get("/metrics", "Bearer " + made()).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/page/main.js", "/health/live", "/health/ready"})
    void whatShowsNothingOfTheClusterIsOpen(String path) throws Exception {
        assertThat(get(path, "").statusCode()).isEqualTo(200);
    }

    @Test
    void theReadTokenChangesNothing() throws Exception {
        HttpResponse<String> response = client.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/reserve"))
                        .header("Authorization", "Bearer " + made())
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString("{\"reserve\":\"30%\"}"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());

        assertThat(response.statusCode()).isEqualTo(401);
        assertThat(response.body()).contains("this is not the token of the coordinator's node");
    }

    @Test
    void aTokenFileThatOthersCanReadIsRefusedAndTheSettingNamed() throws Exception {
        Path open = Files.copy(folder.resolve("made/read.token"), folder.resolve("open.token"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));

        assertThatThrownBy(() -> start(open))
                .hasMessageContaining("ullage.http.read-token-file: " + open + " is open to others (rw-r--r--)")
                .hasMessageContaining("can see the cluster");
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, true",
        "localhost, true",
        "gpu-1.example.org, true",
        "GPU-1.example.org, true",
        "a.pool.example.org, true",
        "a.b.pool.example.org, false",
        "pool.example.org, false",
        "rebind.example, false",
        "10.0.0.7, true",
        "0.0.0.0, false"
    })
    void theServerAnswersForTheNamesOfItsCertificateOnly(String name, boolean isOwn) throws Exception {
        ApiSecurity security = new ApiSecurity(
                operator,
                Optional.empty(),
                Optional.of(SSLContext.getDefault()),
                new TreeSet<>(java.util.List.of("gpu-1.example.org", "*.pool.example.org", "10.0.0.7")));

        assertThat(security.answersFor(name)).isEqualTo(isOwn);
        assertThat(security.scheme()).isEqualTo("https");
    }
}
