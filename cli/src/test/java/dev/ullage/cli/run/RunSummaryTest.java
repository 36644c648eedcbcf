package dev.ullage.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.show.Terminal;
import dev.ullage.common.model.MemoryBytes;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Who used what, from what the status said while the job ran. */
class RunSummaryTest {
    private static final long GIB = MemoryBytes.GIBIBYTE;

    @SafeVarargs
    private static JsonNode status(Consumer<ObjectNode>... ranks) {
        ObjectNode status = Clusters.status(1);
        for (Consumer<ObjectNode> rank : ranks) {
            rank.accept(((ArrayNode) status.at("/nodes/0/devices/0/ranks")).addObject());
        }
        return status;
    }

    private static Consumer<ObjectNode> rank(String job, int rank, long pid, long limit, long sequence) {
        return json -> json.put("job", job)
                .put("rank", rank)
                .put("pid", pid)
                .put("targetBytes", limit)
                .put("sequence", sequence);
    }

    @Test
    void theLastLimitAndTheNumberOfChangesOfEachRankOfTheJobCount() {
        RunSummary summary = RunSummary.none("a")
                .seen(status(rank("a", 0, 10, 64 * GIB, 1), rank("b", 0, 11, GIB, 1)))
                .seen(status(rank("a", 0, 10, 32 * GIB, 3).andThen(json -> json.put("peakReservedBytes", 20 * GIB)
                        .put("refusals", 2)
                        .put("enforcedBy", "torch"))))
                .seen(status());

        assertThat(summary.text(0, Terminal.NONE).lines())
                .containsExactly(
                        "ullage: job a ended with 0",
                        "RANK  NODE    GPU  PID     LIMIT      PEAK  REFUSALS  CHANGES  ENFORCED BY",
                        "   0  host-a    0   10  32.0 GiB  20.0 GiB         2        2  torch");
        JsonNode json = summary.json(0).at("/ranks/0");
        assertThat(json.path("limitBytes").asLong()).isEqualTo(32 * GIB);
        assertThat(json.path("device").asText()).isEqualTo("GPU-host-a-0");
    }

    @Test
    void whatIsNotKnownIsNotZero() {
        RunSummary summary = RunSummary.none("a")
                .seen(status(rank("a", 0, 10, GIB, 0).andThen(json -> json.putNull("targetBytes"))));

        assertThat(summary.text(1, Terminal.NONE).lines().skip(2))
                .containsExactly("   0  host-a    0   10      -     -         -        -  -");
        assertThat(summary.json(1).at("/ranks/0/limitChanges").isNull()).isTrue();
        assertThat(summary.json(1).path("exitCode").asInt()).isEqualTo(1);
    }

    @Test
    void aRestartedRankIsTwoProcesses() {
        RunSummary summary =
                RunSummary.none("a").seen(status(rank("a", 0, 10, GIB, 1))).seen(status(rank("a", 0, 20, GIB, 1)));

        assertThat(summary.json(0).path("ranks")).hasSize(2);
    }

    @Test
    void aJobOfWhichNoRankWasSeenSaysSo() {
        assertThat(RunSummary.none("a").text(3, Terminal.NONE))
                .isEqualTo("ullage: job a ended with 3; no rank of it was ever seen\n");
    }
}
