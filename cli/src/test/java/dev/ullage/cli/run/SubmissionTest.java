package dev.ullage.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.FakeServer;
import dev.ullage.cli.FakeServer.Request;
import dev.ullage.cli.client.ApiClient;
import dev.ullage.cli.client.ApiException;
import dev.ullage.common.testing.TestClock;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SubmissionTest {
    private static final String PLACED =
            "{\"schema\":1,\"state\":\"placed\",\"waitedMillis\":0,\"room\":\"bert#1:first#4\"}";

    private final FakeServer server;
    private final TestClock clock = new TestClock();
    private final Submission submission;

    SubmissionTest() throws IOException {
        server = new FakeServer();
        ApiClient client = new ApiClient(server.uri(), Duration.ofSeconds(5));
        submission = new Submission(client, "secret", "bert", Map.of("submitter", "me"), clock);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private List<String> bodies() {
        return server.requests().stream().map(Request::body).toList();
    }

    @Test
    void aJobThatRunsSaysInWhichRoomItWasToldToRunWhateverIsSaidLater() throws ApiException {
        server.answerWith(200, PLACED);
        submission.say(false);
        submission.say(true);
        server.answerWith(200, "{\"schema\":1,\"state\":\"lost\",\"waitedMillis\":0,\"room\":null}");
        submission.say(true);
        submission.say(true);

        String running = "{\"submitter\":\"me\",\"waitedMillis\":0,\"running\":true,\"room\":\"bert#1:first#4\"}";
        assertThat(bodies())
                .containsExactly(
                        "{\"submitter\":\"me\",\"waitedMillis\":0,\"running\":false}", running, running, running);
    }

    @Test
    void aNodeOfBeforeRoomsHadNamesIsToldWithoutSoThatTheLeaseIsRenewedThereToo() throws ApiException {
        server.answerWith(200, PLACED);
        submission.say(false);
        String older =
                "{\"status\":400,\"detail\":\"no\",\"errors\":[\"unknown field \\\"room\\\"; known: ranks, running\"]}";
        server.answerWith(400, older);

        assertThatThrownBy(() -> submission.say(true)).hasMessageContaining("unknown field \"room\"");

        String running = "{\"submitter\":\"me\",\"waitedMillis\":0,\"running\":true";
        assertThat(bodies().subList(1, bodies().size()))
                .containsExactly(running + ",\"room\":\"bert#1:first#4\"}", running + "}");
    }

    @Test
    void oneThatWaitsAgainHasNoRoomAndAnOlderCoordinatorTellsOfNone() throws ApiException {
        server.answerWith(200, PLACED);
        submission.say(false);
        server.answerWith(200, "{\"schema\":1,\"state\":\"waiting\",\"waitedMillis\":0,\"room\":null}");
        submission.say(false);
        server.answerWith(200, "{\"schema\":1,\"state\":\"placed\",\"waitedMillis\":0}");
        submission.say(false);
        submission.say(true);

        assertThat(bodies()).noneMatch(body -> body.contains("room"));
    }

    private static String placed(String ranMillis) {
        return "{\"schema\":1,\"state\":\"placed\",\"waitedMillis\":0,\"room\":null,\"ranMillis\":" + ranMillis + "}";
    }

    // Goal: a coordinator that takes over learns since when the job runs, to the moment, from the one that placed it.
    @Test
    void howLongAJobHasRunIsSaidAsItsCoordinatorCountedItAndCountedOnWhereOneDoesNotKnow() throws Exception {
        server.answerWith(200, placed("900"));
        submission.say(false);
        clock.advance(Duration.ofSeconds(2));
        server.answerWith(200, placed("2950"));
        submission.say(true);
        clock.advance(Duration.ofSeconds(2));
        server.answerWith(200, placed("null"));
        submission.say(true);
        clock.advance(Duration.ofSeconds(2));
        submission.say(true);

        assertThat(bodies())
                .extracting(body ->
                        new JsonMapper().readTree(body).path("ranMillis").asText("-"))
                .containsExactly("-", "2900", "4950", "6950");
    }

    @Test
    void anOlderCoordinatorIsNotToldHowLongAJobHasRunAndTheNextOneIs() throws Exception {
        server.answerWith(200, "{\"schema\":1,\"state\":\"placed\",\"waitedMillis\":0}");
        submission.say(false);
        clock.advance(Duration.ofSeconds(2));
        submission.say(true);
        server.answerWith(200, placed("null"));
        submission.say(true);
        server.answerWith(
                400,
                "{\"status\":400,\"detail\":\"no\",\"errors\":[\"unknown field \\\"ranMillis\\\"; known: ranks\"]}");
        assertThatThrownBy(() -> submission.say(true)).isInstanceOf(ApiException.class);
        server.answerWith(200, placed("null"));
        submission.say(true);
        submission.say(true);

        assertThat(bodies())
                .extracting(body ->
                        new JsonMapper().readTree(body).path("ranMillis").asText("-"))
                .as("refused, it is said without at once and the next time")
                .containsExactly("-", "-", "-", "2000", "-", "-", "2000");
    }
}
