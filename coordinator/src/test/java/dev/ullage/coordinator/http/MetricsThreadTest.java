package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.config.HttpSettings;
import dev.ullage.coordinator.journal.DecisionCounts;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Case G04: a scrape starts no thread. On a machine with two cores each used to start one of its own. */
class MetricsThreadTest {
    private final ActorTestKit kit = ActorTestKit.create();
    private final List<String> threads = new CopyOnWriteArrayList<>();

    @AfterEach
    void stop() {
        kit.shutdownTestKit();
    }

    private DecisionCounts counts() {
        threads.add(Thread.currentThread().getName());
        return DecisionCounts.NONE;
    }

    @Test
    void thePageIsMadeByAThreadThatIsThere(@TempDir Path folder) throws Exception {
        ActorRef<ToCoordinator> coordinator = kit.spawn(Behaviors.receive(ToCoordinator.class)
                .onMessage(StatusQuery.class, query -> {
                    query.replyTo().tell(Statuses.active());
                    return Behaviors.same();
                })
                .build());
        ServerBinding binding = HttpApi.start(
                        kit.system(),
                        new HttpSettings("127.0.0.1", 0, false),
                        coordinator,
                        new NodeId("host-a"),
                        OperatorToken.loadOrCreate(folder),
                        new MetricsPage(false, this::counts))
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS);
        URI page = URI.create("http://127.0.0.1:" + binding.localAddress().getPort() + "/metrics");

        HttpResponse<String> answer = HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString());

        assertThat(answer.body()).contains("\nullage_coordinator_up 1.0\n");
        assertThat(threads).hasSize(1).allMatch(name -> name.contains("pekko.actor.default-dispatcher"));
    }
}
