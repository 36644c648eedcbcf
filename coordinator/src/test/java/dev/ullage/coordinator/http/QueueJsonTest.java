package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.protocol.RequestCounts;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.RequestState.Waiting;
import dev.ullage.common.protocol.ToOperator.Requests;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class QueueJsonTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private static RequestState state(String job, String state, Optional<Waiting> waiting, long waited) {
        JobRequest request = new JobRequest(
                new JobId(job),
                "me",
                Priority.HIGH,
                List.of(RankGroup.ofMemory(4, MemoryBytes.ofGibibytes(20))),
                1,
                JobRequest.Wanted.ANY,
                OptionalLong.empty());
        return new RequestState(request, state, waiting, waited, 30_000, List.of(), List.of());
    }

    private static Requests one(long waited, OptionalLong startsIn) {
        Waiting waiting =
                new Waiting(OptionalInt.of(1), "4 devices with 20.0 GiB each", startsIn, "the times of others");
        return new Requests(List.of(state("bert", RequestState.WAITING, Optional.of(waiting), waited)));
    }

    private static JsonNode ageless(Requests requests, Instant at) {
        return QueueJson.of(Optional.of(requests), at).ageless();
    }

    @Test
    void aListWithoutAnEndIsCutAndCounted() {
        List<RequestState> all = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            all.add(state("job-" + i, RequestState.WAITING, Optional.empty(), 0));
        }
        for (int i = 0; i < 60; i++) {
            all.add(state("lost-" + i, RequestState.LOST, Optional.empty(), 0));
            all.add(state("runs-" + i, RequestState.PLACED, Optional.empty(), 0));
        }
        all.add(state("ended", RequestState.CANCELLED, Optional.empty(), 0));

        JsonNode queue = QueueJson.of(Optional.of(new Requests(all)), NOW).shown();

        assertThat(queue.path("items")).hasSize(2 * QueueJson.MOST);
        assertThat(queue.at("/items/49/job").asText()).isEqualTo("job-49");
        assertThat(queue.at("/items/50/job").asText()).isEqualTo("lost-0");
        assertThat(queue.path("waiting").asInt()).isEqualTo(1_000);
        assertThat(queue.path("lost").asInt()).isEqualTo(60);
        assertThat(queue.path("placed").asInt()).isEqualTo(60);
        assertThat(queue.toString().length()).isLessThan(50_000);
    }

    @Test
    void whatTheCoordinatorCountedCounts() {
        Requests some = new Requests(
                one(0, OptionalLong.empty()).states(),
                Optional.of(new RequestCounts(34, 2, 7, 1, 3)),
                Optional.empty());

        JsonNode queue = QueueJson.of(Optional.of(some), NOW).shown();

        assertThat(queue.path("waiting").asInt()).isEqualTo(34);
        assertThat(queue.path("placing").asInt()).isEqualTo(2);
        assertThat(queue.path("items")).hasSize(1);
        assertThat(queue.at("/items/0").has("ranks")).isFalse();
    }

    @Test
    void timeThatPassesIsNoChangeAndAnotherStartIs() {
        JsonNode before = ageless(one(5_000, OptionalLong.of(60_500)), NOW);

        assertThat(ageless(one(6_000, OptionalLong.of(59_500)), NOW.plusSeconds(1)))
                .as("a second later, the same start")
                .isEqualTo(before);
        assertThat(ageless(one(6_000, OptionalLong.of(90_500)), NOW.plusSeconds(1)))
                .isNotEqualTo(before);
        assertThat(ageless(one(6_000, OptionalLong.empty()), NOW.plusSeconds(1)))
                .isNotEqualTo(before);
    }

    @Test
    void anEmptyQueueIsNotAnUnknownOne() {
        assertThat(QueueJson.of(Optional.empty(), NOW).shown().isNull()).isTrue();
        JsonNode empty = QueueJson.of(Optional.of(new Requests(List.of())), NOW).shown();
        assertThat(empty.path("waiting").asInt(-1)).isZero();
        assertThat(empty.path("items").isEmpty()).isTrue();
    }
}
