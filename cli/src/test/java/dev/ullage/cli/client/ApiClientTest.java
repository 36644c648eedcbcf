package dev.ullage.cli.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ullage.cli.FakeServer;
import dev.ullage.cli.FakeServer.Request;
import dev.ullage.cli.client.ApiException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApiClientTest {
    private final FakeServer server;
    private final ApiClient client;

    ApiClientTest() throws IOException {
        server = new FakeServer();
        client = new ApiClient(server.uri(), Duration.ofSeconds(5));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void theStatusIsHandedOnAsItCame() throws ApiException {
        server.answerWith(200, "{\"schema\":1,\"nodes\":[],\"new\":null}");

        assertThat(client.status()).hasToString("{\"schema\":1,\"nodes\":[],\"new\":null}");
        assertThat(server.requests()).containsExactly(new Request("GET", "/api/v1/status", "", ""));
    }

    @Test
    void aChangeCarriesTheTokenAndNamesEverything() throws ApiException {
        server.answerWith(200, "{\"schema\":1,\"message\":\"done\"}");

        assertThat(client.setReserve("25%", Optional.empty(), "secret")).isEqualTo("done");
        client.setReserve("25%", Optional.of("GPU-1"), "secret");
        client.setShare("bert", OptionalInt.of(3), "50%", "secret");
        client.setShare("bert", OptionalInt.empty(), "50%", "secret");

        assertThat(server.requests())
                .containsExactly(
                        new Request(
                                "POST", "/api/v1/reserve", "Bearer secret", "{\"reserve\":\"25%\",\"device\":null}"),
                        new Request(
                                "POST",
                                "/api/v1/reserve",
                                "Bearer secret",
                                "{\"reserve\":\"25%\",\"device\":\"GPU-1\"}"),
                        new Request(
                                "POST",
                                "/api/v1/share",
                                "Bearer secret",
                                "{\"job\":\"bert\",\"rank\":3,\"share\":\"50%\"}"),
                        new Request(
                                "POST",
                                "/api/v1/share",
                                "Bearer secret",
                                "{\"job\":\"bert\",\"rank\":null,\"share\":\"50%\"}"));
    }

    @Test
    void whereNobodyListensThereIsNoCoordinator() throws IOException {
        int free;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = socket.getLocalPort();
        }
        ApiClient nobody = new ApiClient(URI.create("http://127.0.0.1:" + free), Duration.ofSeconds(5));

        assertFailure(
                nobody::status,
                Reason.UNREACHABLE,
                "no coordinator at http://127.0.0.1:" + free + ": connection refused; start one with \"ullage up\"");
    }

    @Test
    void whoAcceptsAndSaysNothingIsNotWaitedForForever() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            URI uri = URI.create("http://127.0.0.1:" + silent.getLocalPort());
            ApiClient impatient = new ApiClient(uri, Duration.ofMillis(200));

            assertFailure(impatient::status, Reason.UNREACHABLE, "no answer from " + uri + " within 0.2 s");
        }
    }

    @ParameterizedTest
    @CsvSource({"503, UNREACHABLE", "401, REFUSED", "403, REFUSED", "409, REFUSED", "400, REFUSED", "500, UNUSABLE"})
    void aProblemIsSaidInTheServersWords(int status, Reason reason) {
        server.answerWith(status, "{\"status\":" + status + ",\"detail\":\"the reason\",\"errors\":[\"one\",\"two\"]}");

        assertFailure(client::status, reason, "the reason; one; two");
    }

    @ParameterizedTest
    @CsvSource({"200, <html>", "404, <html>", "404, {}", "200, {}", "200, []", "200, ''"})
    void anotherServerIsNotTakenForACoordinator(int status, String body) {
        server.answerWith(status, body);

        assertFailure(
                client::status, Reason.UNUSABLE, "what answers at " + server.uri() + " is no coordinator of Ullage");
    }

    @Test
    void anotherSchemaIsNotGuessedAt() {
        server.answerWith(200, "{\"schema\":2}");

        assertFailure(
                client::status,
                Reason.UNUSABLE,
                "the coordinator at " + server.uri() + " speaks schema 2, this command knows 1");
    }

    private static void assertFailure(ThrowingCallable call, Reason reason, String message) {
        ApiException exception = catchThrowableOfType(ApiException.class, call);
        assertThat(exception).hasMessageStartingWith(message);
        assertThat(exception.reason()).isEqualTo(reason);
    }
}
