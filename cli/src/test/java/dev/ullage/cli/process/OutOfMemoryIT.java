package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One of eight ranks runs out of memory in its backward pass, again and again. All eight make the same move each time,
 * none waits for its collectives' timeout of ten minutes, and the losses are those of a run that started so.
 */
class OutOfMemoryIT {
    private static final int RANKS = 8;
    private static final int VICTIM = 3;
    private static final List<Integer> FAILING = List.of(3, 7, 11, 15, 19);
    private static final Duration END_WITHIN = Duration.ofMinutes(4);
    private static final double MEDIAN_SECONDS = 0.25;

    @TempDir
    private Path folder;

    @BeforeEach
    void requireTorch() {
        Requires.python("torch", Distribution.PYTHON, "python3-torch");
    }

    @Test
    void allRanksMakeTheSameMoveAtOnceAndTheLossesAreThoseOfARunThatStartedSo() throws IOException {
        String job = Path.of("src/test/resources/oom_job.py").toAbsolutePath().toString();
        try (UpNode node = UpNode.start(folder, "8xH100-80G")) {
            List<JsonNode> small = run(node, "small", List.of(job, "16", "-1", "0"));
            List<JsonNode> failing = run(node, "failing", List.of(job, "32", Integer.toString(VICTIM), steps()));

            List<Double> times = new ArrayList<>();
            JsonNode raised = failing.get(VICTIM).path("raised");
            assertThat(raised).hasSize(FAILING.size());
            for (JsonNode rank : failing) {
                assertThat(rank.path("held"))
                        .as("one directive for each error: %s", rank)
                        .hasSize(FAILING.size());
                for (int i = 0; i < FAILING.size(); i++) {
                    times.add(
                            rank.path("held").get(i).asDouble() - raised.get(i).asDouble());
                }
                assertThat(rank.path("sizes"))
                        .as("of all ranks at the same steps")
                        .isEqualTo(failing.get(0).path("sizes"));
                assertThat(numbers(rank.path("losses")))
                        .isEqualTo(numbers(failing.get(0).path("losses")));
                assertThat(rank.path("norm")).isEqualTo(failing.get(0).path("norm"));
            }
            assertThat(sizesAt(failing.get(0), FAILING)).containsExactly(16, 8, 4, 2, 1);

            List<Double> expected = numbers(small.get(0).path("losses"));
            List<Double> actual = numbers(failing.get(0).path("losses"));
            for (int step = 0; step < expected.size(); step++) {
                assertThat(actual.get(step)).as("loss of step %d", step).isCloseTo(expected.get(step), within(1e-10));
            }
            assertThat(actual.get(actual.size() - 1)).as("it trains").isLessThan(actual.get(0));

            times.sort(null);
            double median = times.get(times.size() / 2);
            System.out.printf(
                    "from the error to the directive on a rank: median %.0f ms, highest %.0f ms, %d times%n",
                    1000 * median, 1000 * times.get(times.size() - 1), times.size());
            assertThat(median).as("seconds, of %s", times).isLessThan(MEDIAN_SECONDS);
        }
    }

    private static String steps() {
        return String.join(",", FAILING.stream().map(String::valueOf).toList());
    }

    private static List<JsonNode> run(UpNode node, String name, List<String> arguments) throws IOException {
        List<String> command = UpNode.concat(TorchRun.of(RANKS), arguments);
        try (TestProcess job = node.launch(name, command, Map.of("GLOO_SOCKET_IFNAME", "lo"))) {
            assertThat(job.awaitExit(END_WITHIN)).as(job.log()).isZero();
            List<JsonNode> ranks = new ArrayList<>();
            for (String line : job.log().lines().toList()) {
                int start = line.indexOf("{\"me\"");
                if (start >= 0) {
                    ranks.add(new ObjectMapper().readTree(line.substring(start)));
                }
            }
            ranks.sort((one, other) ->
                    Integer.compare(one.path("me").asInt(), other.path("me").asInt()));
            assertThat(ranks).as(job.log()).hasSize(RANKS);
            return ranks;
        }
    }

    private static List<Double> numbers(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false)
                .map(JsonNode::asDouble)
                .toList();
    }

    private static List<Integer> sizesAt(JsonNode rank, List<Integer> steps) {
        return steps.stream().map(step -> rank.path("sizes").get(step).asInt()).toList();
    }
}
