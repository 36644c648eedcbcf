package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.EventsQuery;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToOperator.Events;
import dev.ullage.config.HttpSettings;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What readers of the stream see of a node that stops. */
class StreamShutdownTest {
    private final ActorTestKit kit = ActorTestKit.create();
    private final HttpClient client = HttpClient.newHttpClient();

    private String start(Path stateDir) throws Exception {
        return "http://127.0.0.1:"
                + HttpApi.start(
                                kit.system(),
                                new HttpSettings("127.0.0.1", 0, false),
                                kit.spawn(Behaviors.<ToCoordinator>receiveMessage(message -> {
                                    if (message instanceof StatusQuery query) {
                                        query.replyTo().tell(Statuses.active(Statuses.deviceWithARank()));
                                    } else if (message instanceof EventsQuery query) {
                                        query.replyTo().tell(new Events(List.of(), true));
                                    }
                                    return Behaviors.same();
                                })),
                                new NodeId("host-a"),
                                OperatorToken.loadOrCreate(stateDir),
                                new MetricsPage(false))
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS)
                        .localAddress()
                        .getPort();
    }

    // Goal: each stream ends, it is not cut off. Method: the client complains about a body that does not end as HTTP
    // says it must, and with readers that are cut off it does.
    @Test
    void theStreamsEndAsTheyShould(@TempDir Path stateDir) throws Exception {
        String base = start(stateDir);
        List<InputStream> bodies = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            HttpResponse<InputStream> response = client.send(
                    HttpRequest.newBuilder(URI.create(base + "/api/v1/stream")).build(),
                    HttpResponse.BodyHandlers.ofInputStream());
            assertThat(response.statusCode()).isEqualTo(200);
            bodies.add(response.body());
        }
        for (InputStream body : bodies) {
            assertThat(read(body, "event: snapshot")).contains("event: snapshot");
        }

        kit.shutdownTestKit();

        for (InputStream body : bodies) {
            try (body) {
                assertThat(body.readAllBytes()).isNotNull();
            }
        }
    }

    private static String read(InputStream body, String until) throws IOException {
        StringBuilder text = new StringBuilder();
        byte[] some = new byte[4096];
        while (text.indexOf(until) < 0) {
            int count = body.read(some);
            assertThat(count).as(text.toString()).isPositive();
            text.append(new String(some, 0, count, StandardCharsets.UTF_8));
        }
        return text.toString();
    }
}
