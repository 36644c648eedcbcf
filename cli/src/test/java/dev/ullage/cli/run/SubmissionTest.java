package dev.ullage.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.cli.FakeServer;
import dev.ullage.cli.FakeServer.Request;
import dev.ullage.cli.client.ApiClient;
import dev.ullage.cli.client.ApiException;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SubmissionTest {
    private static final String PLACED =
            "{\"schema\":1,\"state\":\"placed\",\"waitedMillis\":0,\"room\":\"bert#1:first#4\"}";

    private final FakeServer server;
    private final Submission submission;

    SubmissionTest() throws IOException {
        server = new FakeServer();
        Clock clock = Clock.fixed(Instant.parse("2030-01-01T00:00:00Z"), ZoneOffset.UTC);
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
}
