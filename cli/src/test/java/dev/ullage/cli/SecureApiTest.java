package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import dev.ullage.cli.client.ApiAccess;
import dev.ullage.cli.page.BigCluster;
import dev.ullage.cli.show.Terminal;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.config.ClusterConfig;
import dev.ullage.config.HttpAccess;
import dev.ullage.config.HttpSettings;
import dev.ullage.config.PemFiles;
import dev.ullage.config.SettingsException;
import dev.ullage.config.SettingsFlag;
import dev.ullage.config.SettingsLoader;
import dev.ullage.config.StreamSettings;
import dev.ullage.coordinator.http.HttpApi;
import dev.ullage.coordinator.http.OperatorToken;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The API over HTTPS with a read token, as commands and strangers meet it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SecureApiTest {
    private final ActorTestKit kit = ActorTestKit.create();
    private final Path folder;
    private final int port;
    private final int plainPort;

    private record Outcome(int code, String out, String err) {}

    SecureApiTest(@TempDir Path folder) throws Exception {
        this.folder = folder;
        assertThat(run("certs", "--out", folder.resolve("tls").toString(), "--nodes", "gpu-1")
                        .code())
                .isZero();
        this.port = start(new HttpAccess(
                Optional.of(new HttpAccess.Tls(folder.resolve("tls/gpu-1.crt"), folder.resolve("tls/gpu-1.key"))),
                Optional.of(folder.resolve("read.token"))));
        this.plainPort = start(HttpAccess.OPEN);
    }

    @AfterAll
    void stop() {
        kit.shutdownTestKit();
    }

    private int start(HttpAccess access) throws Exception {
        ActorRef<ToCoordinator> coordinator = kit.spawn(Behaviors.receiveMessage(message -> {
            if (message instanceof StatusQuery query) {
                query.replyTo().tell(BigCluster.of(8, 1));
            }
            return Behaviors.same();
        }));
        return HttpApi.start(
                        kit.system(),
                        new HttpSettings("127.0.0.1", 0, false, StreamSettings.defaults(), access),
                        coordinator,
                        new NodeId("gpu-1"),
                        OperatorToken.loadOrCreate(folder.resolve("state")),
                        new MetricsPage(false))
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS)
                .localAddress()
                .getPort();
    }

    private static Outcome run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = UllageMain.commandLine(
                        new CliEnvironment(Map.of(), new PrintWriter(out), new PrintWriter(err), Terminal.NONE))
                .execute(arguments);
        return new Outcome(code, out.toString(), err.toString());
    }

    private Outcome secure(String... arguments) {
        return run(Stream.concat(
                        Stream.of(arguments),
                        Stream.of("--server", "https://127.0.0.1:" + port, "--ca", file("tls/ca.crt")))
                .toArray(String[]::new));
    }

    private String file(String name) {
        return folder.resolve(name).toString();
    }

    @Test
    void whoBelievesTheAuthorityAndHasTheTokenReads() {
        Outcome status = secure("status", "--token-file", file("read.token"));

        assertThat(status.code()).as(status.err()).isZero();
        assertThat(status.out()).contains("8 devices");
        assertThat(secure("status", "--token-file", file("state/operator.token"))
                        .code())
                .isZero();
    }

    @Test
    void withoutTheTokenNothingIsShownAndWhatItTakesIsSaid() {
        Outcome status = secure("status");

        assertThat(status.code()).isEqualTo(6);
        assertThat(status.err()).contains("ullage.http.read-token-file").doesNotContain("\tat ");
    }

    @Test
    void aServerOfAnAuthorityThatIsNotKnownIsNotBelieved() {
        Outcome status = run("status", "--server", "https://127.0.0.1:" + port, "--token-file", file("read.token"));

        assertThat(status.code()).isEqualTo(5);
        assertThat(status.err()).contains("no trusted connection to https://127.0.0.1:", "--ca FILE");
    }

    @Test
    void aTokenIsNeverSentUnencryptedToAnotherMachine() {
        Outcome reading = run("status", "--server", "http://192.0.2.1:7788", "--token-file", file("read.token"));
        Outcome writing = run(
                "set",
                "reserve",
                "30%",
                "--server",
                "http://192.0.2.1:7788",
                "--token-file",
                file("state/operator.token"));

        assertThat(List.of(reading.code(), writing.code())).containsOnly(6);
        assertThat(reading.err()).contains("the token is not sent to http://192.0.2.1:7788", "use https://");
        assertThat(writing.err()).contains("the token is not sent to http://192.0.2.1:7788");
    }

    @Test
    void aFileThatIsNoTokenOrNoAuthorityIsNamed() {
        assertThat(secure("status", "--token-file", file("tls/ca.crt")).err()).contains("ca.crt", "token");
        assertThat(run("status", "--server", "https://127.0.0.1:1", "--ca", file("none.crt")))
                .isEqualTo(new Outcome(7, "", "ullage: --ca = " + file("none.crt") + " does not exist\n"));
    }

    @Test
    void itAnswersForTheNamesOfItsCertificateAndNoOthers() throws Exception {
        assertThat(encrypted("GET /health/live HTTP/1.1\r\nHost: gpu-1:7788")).startsWith("HTTP/1.1 200 ");
        assertThat(encrypted("GET /health/live HTTP/1.1\r\nHost: rebind.example"))
                .startsWith("HTTP/1.1 421 ");
        assertThat(encrypted("GET /health/live HTTP/1.1\r\nHost: gpu-1\r\nOrigin: https://gpu-1"))
                .startsWith("HTTP/1.1 200 ");
        assertThat(encrypted("GET /health/live HTTP/1.1\r\nHost: gpu-1\r\nOrigin: http://gpu-1"))
                .startsWith("HTTP/1.1 403 ");
    }

    private String encrypted(String request) throws Exception {
        var context = ApiAccess.trusting(PemFiles.certificates("test", folder.resolve("tls/ca.crt")));
        try (Socket socket = context.getSocketFactory().createSocket("127.0.0.1", port)) {
            return exchange(socket, request);
        }
    }

    private String plain(String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), plainPort)) {
            return exchange(socket, request);
        }
    }

    private static String exchange(Socket socket, String request) throws IOException {
        socket.setSoTimeout(20_000);
        socket.getOutputStream()
                .write((request + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    // Goal: what must hold of an API that steers machines, case by case. Method: the cases file; each has its check
    // here.
    @Test
    void everyCaseOfExposureHolds() throws Exception {
        JsonNode cases = new JsonMapper()
                .readTree(Path.of("src/test/resources/cases/I04/http.json").toFile());
        Map<String, Callable<String>> checks = checks();

        for (JsonNode one : cases) {
            String what = one.path("config")
                    .asText(one.path("req").asText(one.path("peer").asText()));
            String seen = Objects.requireNonNull(checks.get(what), "no check of the case " + what)
                    .call();
            assertThat(seen).as("%s: expected %s", what, one.path("expect")).startsWith("yes");
        }
    }

    private Map<String, Callable<String>> checks() {
        Map<String, Callable<String>> checks = new TreeMap<>();
        checks.put("default", () -> said(settings().http().host().equals("127.0.0.1"), "host of the defaults"));
        checks.put("bind 0.0.0.0, no credentials set", () -> {
            try {
                settings("ullage.http.host", "0.0.0.0");
                return "it started";
            } catch (SettingsException e) {
                return said(String.valueOf(e.getMessage()).contains("ullage.http.host = 0.0.0.0"), e.getMessage());
            }
        });
        checks.put(
                "POST /api/v1/jobs without credentials",
                () -> status(plain("POST /api/v1/jobs HTTP/1.1\r\nHost: localhost"), "401"));
        checks.put(
                "PUT /api/v1/jobs/j1/limit without credentials",
                () -> status(plain("PUT /api/v1/jobs/j1/limit HTTP/1.1\r\nHost: localhost"), "401"));
        checks.put("GET /metrics", () -> status(plain("GET /metrics HTTP/1.1\r\nHost: localhost"), "200"));
        checks.put(
                "POST with header Origin: http://evil.example",
                () -> status(
                        plain("POST /api/v1/share HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example"), "403"));
        checks.put(
                "GET with header Host: rebind.example",
                () -> status(plain("GET /api/v1/status HTTP/1.1\r\nHost: rebind.example"), "421"));
        checks.put("job with command text", () -> {
            ArchRuleDefinition.noClasses()
                    .should()
                    .dependOnClassesThat()
                    .haveFullyQualifiedName(ProcessBuilder.class.getName())
                    .orShould()
                    .dependOnClassesThat()
                    .haveFullyQualifiedName(Runtime.class.getName())
                    .check(new ClassFileImporter().importPackages("dev.ullage.coordinator"));
            return "yes";
        });
        // Who shows no certificate, and who shows another authority's, is cut off: TlsIT, with real nodes. Here: that
        // the setting which asks for one is on.
        checks.put("cluster port, no TLS certificate", () -> {
            var config = ClusterConfig.toPekkoConfig(
                    settings(
                            "ullage.cluster.transport", "tls-tcp",
                            "ullage.cluster.tls.certificate", file("tls/gpu-1.crt"),
                            "ullage.cluster.tls.key", file("tls/gpu-1.key"),
                            "ullage.cluster.tls.ca", file("tls/ca.crt")),
                    Set.of());
            return said(
                    config.getString("pekko.remote.artery.ssl.ssl-engine-provider")
                            .endsWith(".RotatingKeysSSLEngineProvider"),
                    "the engine that asks both sides for one");
        });
        return checks;
    }

    private static String status(String response, String wanted) {
        return said(response.startsWith("HTTP/1.1 " + wanted + " "), response);
    }

    private static String said(boolean holds, @org.jspecify.annotations.Nullable String seen) {
        return (holds ? "yes: " : "no: ") + seen;
    }

    private static dev.ullage.config.UllageSettings settings(String... keysAndValues) throws SettingsException {
        List<SettingsFlag> flags = java.util.stream.IntStream.range(0, keysAndValues.length / 2)
                .mapToObj(i -> new SettingsFlag("--test", keysAndValues[2 * i], keysAndValues[2 * i + 1]))
                .toList();
        return SettingsLoader.load(Optional.empty(), flags, Map.of("HOME", "/home/a"));
    }
}
