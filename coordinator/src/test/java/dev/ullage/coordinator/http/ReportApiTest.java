package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.AccountsQuery;
import dev.ullage.common.protocol.ToOperator.Accounts;
import dev.ullage.config.HttpAccess;
import dev.ullage.config.HttpSettings;
import dev.ullage.config.ReportSettings;
import dev.ullage.config.StreamSettings;
import dev.ullage.coordinator.metrics.MetricsPage;
import dev.ullage.coordinator.report.Price;
import dev.ullage.coordinator.report.RunFigures;
import dev.ullage.coordinator.report.Runs;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** {@code /api/v1/report} against its golden answers, and the page that shows it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReportApiTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String ANY_JOB = "<script>alert(1)</script>/x";

    private final ActorTestKit kit = ActorTestKit.create();
    private final HttpClient client = HttpClient.newHttpClient();
    private final String base;

    ReportApiTest(@TempDir Path stateDir) throws Exception {
        Path read = stateDir.resolve("read.token");
        ActorRef<ToCoordinator> coordinator = kit.spawn(Behaviors.receive(ToCoordinator.class)
                .onMessage(AccountsQuery.class, query -> {
                    Accounts none = new Accounts(List.of(), 0, List.of(new JobId("gpt")));
                    boolean isKnown =
                            query.job().equals(Runs.JOB) || query.job().value().equals(ANY_JOB);
                    query.replyTo().tell(isKnown ? accounts() : none);
                    return Behaviors.same();
                })
                .build());
        base = "http://127.0.0.1:"
                + HttpApi.start(
                                kit.system(),
                                new HttpSettings(
                                        "127.0.0.1",
                                        0,
                                        false,
                                        StreamSettings.defaults(),
                                        new HttpAccess(Optional.empty(), Optional.of(read)),
                                        new ReportSettings(Optional.of(3.0), "EUR")),
                                coordinator,
                                new NodeId("host-a"),
                                OperatorToken.loadOrCreate(stateDir),
                                new MetricsPage(false))
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS)
                        .localAddress()
                        .getPort();
        token = Files.readString(read).strip();
    }

    private final String token;

    /** Of a job of which everything is known. */
    static Accounts accounts() {
        return Runs.known();
    }

    @AfterAll
    void stop() {
        kit.shutdownTestKit();
    }

    private HttpResponse<String> get(String path, boolean withToken) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path));
        if (withToken) {
            request.header("Authorization", "Bearer " + token);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static JsonNode golden(String name) throws IOException {
        try (InputStream in = ReportApiTest.class.getResourceAsStream("/report/" + name)) {
            return JSON.readTree(Objects.requireNonNull(in, name));
        }
    }

    /**
     * A golden file is written with {@code -Dullage.golden.write=true}, to be read by a person before it is committed.
     */
    private static void assertGolden(String name, ObjectNode actual) throws IOException {
        actual.put("time", "(time)");
        if (Boolean.getBoolean("ullage.golden.write")) {
            Files.writeString(
                    Path.of("src/test/resources/report", name),
                    JSON.writerWithDefaultPrettyPrinter().writeValueAsString(actual) + "\n");
        }
        assertThat(JSON.readTree(actual.toString())).isEqualTo(golden(name));
    }

    @Test
    void aJobOfWhichEverythingIsKnown() throws Exception {
        HttpResponse<String> response = get("/api/v1/report?job=bert", true);

        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.headers().firstValue("content-type")).contains("application/json");
        assertGolden("known.json", (ObjectNode) JSON.readTree(response.body()));
    }

    @Test
    void aJobOfWhichNextToNothingIsKnownHasNullsAndNoZeros() throws IOException {
        assertGolden(
                "terse.json",
                ReportJson.of(Runs.JOB, RunFigures.of(Runs.terse(), Optional.of(new Price(3, "EUR"))), Instant.EPOCH));
    }

    @Test
    void aJobThatIsNotKnownIsSaidToBeWithThoseThatAre() throws Exception {
        HttpResponse<String> response = get("/api/v1/report?job=bart", true);

        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(JSON.readTree(response.body()).path("detail").asText())
                .isEqualTo("no job named bart has an account here, or its workers have not told it yet; known: gpt");
    }

    @Test
    void aQuestionThatNobodyUnderstandsIsRefused() throws Exception {
        for (String query : List.of("", "?jobb=x", "?job=", "?job=a&job=b")) {
            HttpResponse<String> response = get("/api/v1/report" + query, true);
            assertThat(response.statusCode()).as(query).isEqualTo(400);
            assertThat(JSON.readTree(response.body()).path("errors")).as(query).hasSize(1);
        }
    }

    @Test
    void thePageIsOpenAndWhatItShowsIsNot() throws Exception {
        HttpResponse<String> page = get("/report/bert", false);
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("content-type").orElse("")).startsWith("text/html");
        assertThat(page.headers().firstValue("content-security-policy")).contains(PageFiles.CONTENT_SECURITY_POLICY);
        assertThat(get("/page/report.js", false).statusCode()).isEqualTo(200);
        assertThat(get("/page/uplot-global.js", false).body()).contains("uPlot");
        assertThat(get("/api/v1/report?job=bert", false).statusCode()).isEqualTo(401);
        assertThat(get("/report/", true).statusCode()).isEqualTo(404);
    }

    @Test
    void aPageOfItsOwnHasEverythingInItAndNoNameCanEndAScript() {
        String page = ReportPage.selfContained("{\"job\":\"" + ANY_JOB + "\"}");

        assertThat(page)
                .doesNotContain(ANY_JOB)
                .contains("\\u003cscript>alert(1)\\u003c/script>/x")
                .doesNotContain("src=\"/page/")
                .doesNotContain("href=\"/page/")
                .contains("default-src 'none'")
                .contains("var uPlot=");
    }
}
