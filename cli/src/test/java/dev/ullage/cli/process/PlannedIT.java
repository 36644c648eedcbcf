package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job of two pipeline stages is started with an estimate: its ranks have different limits, phase by phase; what their
 * first steps measure corrects them; and all of it is there again after worker and coordinator were killed.
 */
class PlannedIT {
    private static final Duration WITHIN = Duration.ofMinutes(2);
    private static final String DEVICES = "2xH100-80G";

    /** The shape of planned_job.py. */
    private static final String ESTIMATE =
            """
            {"layers": 4, "hidden": 256, "heads": 4, "ffn": 1024, "vocab": 16384, "gated": false, "norm": "layer",
             "bias": true, "positions": "none", "sequence": 64, "micro-batch": 4, "global-batch": 4, "pp": 2,
             "stages": "3,1", "framework": "torch", "dtype": "fp32", "attention": "unfused", "recompute": "none",
             "measure": "reserved"}
            """;

    @TempDir
    private Path folder;

    @BeforeEach
    void requireTorch() {
        Requires.python("torch", Distribution.PYTHON, "python3-torch");
    }

    private Path estimate() throws IOException {
        return Files.writeString(folder.resolve("estimate.json"), ESTIMATE);
    }

    private void samples(int count) throws IOException {
        Path written = Files.writeString(folder.resolve("samples.next"), Integer.toString(count));
        Files.move(written, folder.resolve("samples"), StandardCopyOption.REPLACE_EXISTING);
    }

    private Path end() {
        return folder.resolve("end");
    }

    private TestProcess start(UpNode node) throws IOException {
        List<String> run = List.of(
                Distribution.ullage(),
                "run",
                "--server",
                node.api().base(),
                "--job",
                "pipeline",
                "--estimate",
                estimate().toString(),
                "--");
        List<String> script = List.of(
                Path.of("src/test/resources/planned_job.py").toAbsolutePath().toString(),
                folder.resolve("samples").toString(),
                end().toString());
        return node.launch(
                "run", UpNode.concat(run, UpNode.concat(TorchRun.of(2), script)), Map.of("GLOO_SOCKET_IFNAME", "lo"));
    }

    private static JsonNode await(UpNode node, TestProcess job, String what, Condition condition) {
        return node.api().await(what, WITHIN, status -> {
            if (!job.isAlive()) {
                throw new AssertionError("the job ended:\n" + job.log());
            }
            List<JsonNode> ranks = Api.ranks(status);
            return ranks.size() == 2
                    && Api.areSettled(status, 2)
                    && ranks.stream().allMatch(condition::isMet);
        });
    }

    private interface Condition {
        boolean isMet(JsonNode rank);
    }

    private static JsonNode phase(JsonNode rank, String name) {
        for (JsonNode phase : rank.path("needs").path("phases")) {
            if (phase.path("phase").asText().equals(name)) {
                return phase;
            }
        }
        throw new AssertionError("no phase " + name + " in " + rank);
    }

    private static boolean isCorrected(JsonNode rank) {
        return rank.path("needs").path("basis").asText().contains("beside the planned state")
                && rank.path("limitsBytes").path("BACKWARD").asLong()
                        == phase(rank, "BACKWARD").path("correctedBytes").asLong();
    }

    @Test
    void stagesHaveLimitsByTheirEstimateAndMeasuredPeaksCorrectThem() throws IOException {
        samples(4);
        try (UpNode node = UpNode.start(folder, DEVICES);
                TestProcess job = start(node)) {
            JsonNode status = await(node, job, "measured peaks correct the limits", PlannedIT::isCorrected);
            List<JsonNode> ranks = Api.ranks(status);
            ranks.forEach(PlannedIT::assertIsCorrected);
            assertThat(ranks.get(0).path("targetBytes").asLong())
                    .as("each stage has its own limit")
                    .isNotEqualTo(ranks.get(1).path("targetBytes").asLong());
            assertThat(ranks.stream()
                            .map(rank -> rank.path("needs").path("stage").asInt()))
                    .containsExactlyInAnyOrder(0, 1);
            Api.requireWithinBudget(status);
            assertExplained(node);

            samples(2);
            JsonNode both = await(
                    node,
                    job,
                    "a second size was measured",
                    rank -> rank.path("needs").path("microBatch").path("sizes").asInt() == 2 && isCorrected(rank));

            node.process().kill();
            node.restart(DEVICES);
            await(
                    node,
                    job,
                    "the estimates are said again",
                    rank -> rank.path("policy").asText().equals("planned") && isCorrected(rank));
            Files.createFile(end());
            assertThat(job.awaitExit(WITHIN)).as(job.log()).isZero();
            for (JsonNode rank : Api.ranks(both)) {
                assertIsTheLineOf(rank, result(job, rank.path("rank").asInt()));
            }
        }
    }

    private static void assertIsCorrected(JsonNode rank) {
        assertThat(rank.path("policy").asText()).isEqualTo("planned");
        for (String name : List.of("FORWARD", "BACKWARD", "OPTIMIZER")) {
            JsonNode phase = phase(rank, name);
            long corrected = phase.path("correctedBytes").asLong();
            assertThat(corrected)
                    .as(name + " of " + rank)
                    .isGreaterThanOrEqualTo(phase.path("measuredBytes").asLong())
                    .isLessThan(phase.path("plannedUpperBytes").asLong());
        }
        assertThat(rank.path("limitsBytes").path("INIT").asLong())
                .as("a phase without activations needs less")
                .isLessThan(rank.path("limitsBytes").path("BACKWARD").asLong());
    }

    private void assertExplained(UpNode node) throws IOException {
        List<String> explain = List.of(
                Distribution.ullage(),
                "explain",
                "pipeline",
                "--server",
                node.api().base());
        try (TestProcess text = node.launch("explain", explain, Map.of());
                TestProcess json = node.launch("explain-json", UpNode.concat(explain, List.of("--json")), Map.of())) {
            assertThat(text.awaitExit(WITHIN)).as(text.log()).isZero();
            assertThat(text.log()).contains("estimate of stage 0 of 2", "PLANNED", "MEASURED", "CORRECTED", "IN FORCE");
            assertThat(json.awaitExit(WITHIN)).as(json.log()).isZero();
            JsonNode ranks = new ObjectMapper().readTree(json.log()).path("ranks");
            assertThat(ranks).hasSize(2);
            assertThat(phase(ranks.get(0), "BACKWARD").path("inForceBytes").asLong())
                    .isPositive();
        }
    }

    private static JsonNode result(TestProcess job, int rank) throws IOException {
        for (String line : job.log().lines().toList()) {
            int start = line.indexOf("{\"me\": " + rank);
            if (start >= 0) {
                return new ObjectMapper().readTree(line.substring(start));
            }
        }
        throw new AssertionError("rank " + rank + " said nothing:\n" + job.log());
    }

    /** Saved tensors are linear in the samples, so two sizes give the line to the byte. */
    private static void assertIsTheLineOf(JsonNode rank, JsonNode result) {
        JsonNode line = rank.path("needs").path("microBatch");
        long two = result.path("saved").path("2").asLong();
        long four = result.path("saved").path("4").asLong();
        assertThat(line.path("perSampleBytes").asLong()).isEqualTo((four - two) / 2);
        assertThat(line.path("needBytes").asLong())
                .isEqualTo(result.path("state").asLong() + four);
        assertThat(result.path("refusals").asInt()).isZero();
        System.out.printf(
                "stage %d: planned %d, measured with 2 samples %d, with 4 %d bytes; state %d, each sample %d%n",
                rank.path("rank").asInt(),
                phase(rank, "BACKWARD").path("plannedBytes").asLong(),
                result.path("state").asLong() + two,
                result.path("state").asLong() + four,
                result.path("state").asLong(),
                (four - two) / 2);
    }

    @Test
    void whatCannotBeIsRefusedWithNumbersBeforeAnythingStarts() throws IOException {
        Path large = Files.writeString(
                folder.resolve("large.json"),
                "{\"model\": \"llama3.1-8b\", \"pp\": 2, \"sequence\": 8192, \"micro-batch\": 1, \"global-batch\": 8,"
                        + " \"attention\": \"flash\", \"recompute\": \"none\", \"framework\": \"megatron\"}");
        List<String> answers = new ArrayList<>();
        try (UpNode node = UpNode.start(folder, DEVICES)) {
            for (List<String> words : List.of(
                    List.of(large.toString(), "--nproc_per_node", "2"),
                    List.of(estimate().toString(), "--nproc_per_node", "1"))) {
                List<String> run = List.of(
                        Distribution.ullage(), "run", "--server", node.api().base(), "--estimate", words.get(0), "--");
                List<String> torchrun = List.of(
                        Distribution.PYTHON, "-m", "torch.distributed.run", words.get(1), words.get(2), "train.py");
                try (TestProcess refused =
                        node.launch("refused" + answers.size(), UpNode.concat(run, torchrun), Map.of())) {
                    assertThat(refused.awaitExit(WITHIN)).as(refused.log()).isEqualTo(6);
                    answers.add(refused.log());
                }
            }
        }
        assertThat(answers.get(0))
                .contains("rank 0 (stage 0) is estimated at", "but device 0", "can never give more than 64.0 GiB");
        assertThat(answers.get(1))
                .contains("refused: the estimate is of 2 ranks (tp x pp x cp x dp), torchrun starts 1");
    }
}
