package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.common.model.EventId;
import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.protocol.ClusterEvent;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.Events;
import dev.ullage.common.protocol.ToOperator.Requests;
import dev.ullage.common.testing.Eventually;
import dev.ullage.config.StreamSettings;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.SinkQueueWithCancel;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Readers that pull by hand; an object that answers as it is told stands in for the coordinator. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StreamHubTest {
    private static final int BUFFER = 4;
    /** What the stages between the hub and a reader hold at most. */
    private static final int ON_THE_WAY = 60;

    private static final JsonMapper JSON = new JsonMapper();
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-01-01T00:00:00Z"), ZoneOffset.UTC);
    private static final StreamSettings SETTINGS = new StreamSettings(Duration.ofSeconds(1), 2, BUFFER);

    private final ActorTestKit kit = ActorTestKit.create();
    private final Materializer materializer = Materializer.createMaterializer(kit.system());

    @AfterAll
    void stop() {
        kit.shutdownTestKit();
    }

    // A reader leaves while an answer is on its way, another comes: it must not take that answer for all there is.
    @Test
    void whatIsOnItsWayIsNotTakenForEverything() throws Exception {
        coordinator.events = List.of(event(1), event(2));
        StreamHub hub = hub();
        SinkQueueWithCancel<ByteString> first = join(hub, new StreamHub.Wish(Optional.empty(), false));
        hub.tick();
        next(first);
        coordinator.isSilent = true;
        hub.tick();
        first.cancel();
        Eventually.eventually("the reader is gone", () -> hub.readers() == 0);
        hub.tick();
        SinkQueueWithCancel<ByteString> second = join(hub, new StreamHub.Wish(Optional.empty(), false));
        coordinator.late.complete(coordinator.status);

        assertThat(data(next(second)).path("events")).hasSize(2);
    }

    private static final class FakeCoordinator implements StreamHub.Coordinator {
        private Optional<ClusterStatus> status = Optional.of(Statuses.active(Statuses.deviceWithARank()));
        private List<ClusterEvent> events = List.of();
        private boolean isSilent;
        private final CompletableFuture<Optional<ClusterStatus>> late = new CompletableFuture<>();
        private final List<Optional<EventId>> asked = new ArrayList<>();
        private Optional<Requests> queue = Optional.of(new Requests(List.of(Statuses.request())));
        private int queueAsked;

        @Override
        public CompletionStage<Optional<ClusterStatus>> status() {
            return isSilent ? late : CompletableFuture.completedStage(status);
        }

        @Override
        public CompletionStage<Optional<Events>> events(Optional<EventId> after) {
            asked.add(after);
            List<ClusterEvent> later = events.stream()
                    .filter(event -> after.isEmpty() || event.id().compareTo(after.get()) > 0)
                    .toList();
            return CompletableFuture.completedStage(status.map(known -> new Events(later, true)));
        }

        @Override
        public CompletionStage<Optional<Requests>> queue() {
            queueAsked++;
            return CompletableFuture.completedStage(queue);
        }
    }

    private FakeCoordinator coordinator = new FakeCoordinator();

    @BeforeEach
    void anotherCoordinator() {
        coordinator = new FakeCoordinator();
    }

    private StreamHub hub() {
        return new StreamHub(coordinator, SETTINGS, materializer, CLOCK);
    }

    private SinkQueueWithCancel<ByteString> join(StreamHub hub, StreamHub.Wish wish) {
        return hub.join(wish).orElseThrow().runWith(Sink.queue(1), materializer);
    }

    private static StreamHub.Wish everything() {
        return new StreamHub.Wish(Optional.empty(), true);
    }

    private static String next(SinkQueueWithCancel<ByteString> reader) throws Exception {
        return reader.pull()
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS)
                .orElseThrow()
                .utf8String();
    }

    private static JsonNode data(String message) throws Exception {
        return JSON.readTree(message.substring(message.indexOf("data: ") + 6));
    }

    private static ClusterEvent event(long sequence) {
        return new ClusterEvent(
                new EventId(3, sequence), 0, "limit-changed", EventSeverity.INFO, About.CLUSTER, "line\nbreak");
    }

    @Test
    void aReaderGetsEverythingThenWhatChanges() throws Exception {
        coordinator.events = List.of(event(1));
        StreamHub hub = hub();
        SinkQueueWithCancel<ByteString> reader = join(hub, everything());

        hub.tick();
        String first = next(reader);
        assertThat(first).startsWith("event: snapshot\ndata: {\"full\":true,").endsWith("}\n\n");
        assertThat(next(reader))
                .startsWith("id: 3.1\nevent: events\ndata: {\"complete\":true,")
                .contains("line\\nbreak");

        coordinator.events = List.of(event(1), event(2));
        hub.tick();
        assertThat(data(next(reader)).path("full").asBoolean(true)).isFalse();
        assertThat(next(reader)).startsWith("id: 3.2\n").doesNotContain("\"3.1\"");
        assertThat(coordinator.asked).containsExactly(Optional.empty(), Optional.of(new EventId(3, 1)));
    }

    @Test
    void theQueueComesAlongAndIsLeftOutWhileItOnlyGrowsOlder() throws Exception {
        StreamHub hub = hub();
        SinkQueueWithCancel<ByteString> reader = join(hub, everything());
        hub.tick();
        JsonNode queue = data(next(reader)).path("queue");
        assertThat(queue.path("waiting").asInt()).isEqualTo(1);
        assertThat(queue.at("/items/0/job").asText()).isEqualTo("bert");
        next(reader);

        hub.tick();
        assertThat(data(next(reader)).has("queue")).isFalse();
        coordinator.queue = Optional.of(new Requests(List.of()));
        hub.tick();
        assertThat(data(next(reader)).at("/queue/items").isEmpty()).isTrue();
        coordinator.queue = Optional.empty();
        hub.tick();
        assertThat(data(next(reader)).get("queue").isNull()).as("unknown").isTrue();
    }

    // Its question would have no answer, and all readers would wait for it.
    @Test
    void aCoordinatorThatSaysNothingOfAQueueIsNotAskedForOne() throws Exception {
        coordinator.status = Optional.of(Statuses.empty());
        StreamHub hub = hub();
        SinkQueueWithCancel<ByteString> reader = join(hub, everything());
        hub.tick();

        assertThat(data(next(reader)).get("queue").isNull()).isTrue();
        assertThat(coordinator.queueAsked).isZero();
    }

    @Test
    void whoComesLaterGetsEverythingWhileTheOthersGetChanges() throws Exception {
        StreamHub hub = hub();
        SinkQueueWithCancel<ByteString> early = join(hub, everything());
        hub.tick();
        next(early);
        next(early);
        SinkQueueWithCancel<ByteString> late = join(hub, everything());
        hub.tick();

        assertThat(data(next(early)).path("full").asBoolean(true)).isFalse();
        assertThat(data(next(late)).path("full").asBoolean()).isTrue();
    }

    @Test
    void whoComesBackGoesOnAfterTheLastEventItKnows() throws Exception {
        coordinator.events = List.of(event(1), event(2), event(3));
        StreamHub hub = hub();
        SinkQueueWithCancel<ByteString> known = join(hub, new StreamHub.Wish(Optional.of(new EventId(3, 2)), false));
        SinkQueueWithCancel<ByteString> strange = join(hub, new StreamHub.Wish(Optional.of(new EventId(2, 9)), false));
        hub.tick();

        JsonNode rest = data(next(known));
        assertThat(rest.path("complete").asBoolean()).isTrue();
        assertThat(rest.path("events")).hasSize(1);
        JsonNode all = data(next(strange));
        assertThat(all.path("complete").asBoolean()).isFalse();
        assertThat(all.path("events")).hasSize(3);
    }

    @Test
    void nobodyIsAskedWhileNobodyReads() {
        StreamHub hub = hub();
        hub.tick();
        assertThat(coordinator.asked).isEmpty();

        SinkQueueWithCancel<ByteString> reader = join(hub, everything());
        reader.cancel();
        Eventually.eventually("the reader is gone", () -> hub.readers() == 0);
        hub.tick();
        assertThat(coordinator.asked).isEmpty();
    }

    @Test
    void oneQuestionAtATime() {
        coordinator.isSilent = true;
        StreamHub hub = hub();
        join(hub, everything());
        hub.tick();
        hub.tick();

        assertThat(coordinator.asked).hasSize(1);
    }

    @Test
    void withoutACoordinatorReadersAreToldSoAndGetEverythingLater() throws Exception {
        Optional<ClusterStatus> status = coordinator.status;
        coordinator.status = Optional.empty();
        StreamHub hub = hub();
        SinkQueueWithCancel<ByteString> reader = join(hub, everything());
        hub.tick();
        assertThat(data(next(reader)).path("unanswered").asBoolean()).isTrue();

        coordinator.status = status;
        hub.tick();
        assertThat(data(next(reader)).path("full").asBoolean()).isTrue();
    }

    @Test
    void aSlowReaderIsDroppedAndTheOthersAreNot() throws Exception {
        StreamHub hub = hub();
        SinkQueueWithCancel<ByteString> slow = join(hub, everything());
        SinkQueueWithCancel<ByteString> quick = join(hub, everything());
        hub.tick();
        next(quick);
        next(quick);
        for (int i = 0; i < BUFFER + ON_THE_WAY; i++) {
            hub.tick();
            assertThat(next(quick)).startsWith("event: snapshot");
        }

        assertThat(hub.readers()).isEqualTo(1);
        Eventually.eventually("the slow reader's stream has ended", () -> {
            CompletableFuture<Optional<ByteString>> pulled = slow.pull().toCompletableFuture();
            return pulled.handle((message, failure) -> failure != null || message.isEmpty())
                    .getNow(false);
        });
    }

    @Test
    void thereIsAnEndToTheReaders() {
        StreamHub hub = hub();
        join(hub, everything());
        join(hub, everything());

        assertThat(hub.join(everything())).isEmpty();
    }
}
