package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job asks the queue for what its estimate says of each of its stages, and its ranks are planned by the same. */
class EstimatedQueueIT {
    private static final Duration WITHIN = Duration.ofMinutes(2);
    private static final long MIB = 1L << 20;

    private static final String ESTIMATE =
            """
            {"layers": 4, "hidden": 256, "heads": 4, "ffn": 1024, "vocab": 16384, "gated": false, "norm": "layer",
             "bias": true, "positions": "none", "sequence": 64, "micro-batch": 4, "global-batch": 4, "pp": 2,
             "stages": "3,1", "framework": "torch", "dtype": "fp32", "attention": "unfused", "recompute": "none",
             "measure": "%s"}
            """;

    private static final String SCRIPT =
            """
            import os, sys, time, ullage
            rank = ullage.connect()
            while not os.path.exists(sys.argv[1]):
                time.sleep(0.05)
            """;

    @TempDir
    private Path folder;

    private Path estimate(String measure) throws IOException {
        return Files.writeString(folder.resolve(measure + ".json"), ESTIMATE.formatted(measure));
    }

    private Path end() {
        return folder.resolve("end");
    }

    private List<String> run(UpNode node, String measure, String... options) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Distribution.ullage(),
                "run",
                "--server",
                node.api().base(),
                "--token-file",
                node.stateDir().resolve("operator.token").toString(),
                "--job",
                "pipeline",
                "--estimate",
                estimate(measure).toString()));
        command.addAll(List.of(options));
        command.add("--");
        command.addAll(TorchRun.of(2));
        command.add(Files.writeString(folder.resolve("train.py"), SCRIPT).toString());
        command.add(end().toString());
        return command;
    }

    @Test
    void eachStageGetsTheRoomOfItsEstimateAndIsPlannedByIt() throws IOException {
        Requires.python("torch", Distribution.PYTHON, "python3-torch");
        try (UpNode node = UpNode.start(folder, "2xH100-80G");
                TestProcess check = node.launch("check", run(node, "device", "--check"), Map.of());
                TestProcess job = node.launch("run", run(node, "device", "--wait", "--require"), Map.of())) {
            assertThat(check.awaitExit(WITHIN)).as(check.log()).isZero();
            JsonNode status = node.api().await("both ranks are planned", WITHIN, now -> {
                if (!job.isAlive()) {
                    throw new AssertionError("the job ended:\n" + job.log());
                }
                return Api.areSettled(now, 2)
                        && Api.ranks(now).stream()
                                .allMatch(rank -> rank.path("policy").asText().equals("planned"));
            });
            Api.requireWithinBudget(status);

            JsonNode placed =
                    node.api().get("/api/v1/requests/pipeline").orElseThrow().path("ranks");
            assertThat(placed).hasSize(2);
            long first = placed.get(0).path("bytes").asLong();
            long second = placed.get(1).path("bytes").asLong();
            assertThat(first).as("two stages").isNotEqualTo(second);
            assertThat(check.log())
                    .contains("job pipeline asks for 1 rank with %s, 1 rank with %s, on"
                            .formatted(MemoryBytes.of(first), MemoryBytes.of(second)));
            for (JsonNode rank : Api.ranks(status)) {
                assertIsWithin(rank, placed.get(rank.path("rank").asInt()));
            }
            Files.createFile(end());
            assertThat(job.awaitExit(WITHIN)).as(job.log()).isZero();
        }
    }

    /** The room is for the most that the estimate may need, and nothing below a MiB beside it. */
    private static void assertIsWithin(JsonNode rank, JsonNode room) {
        long most = 0;
        for (JsonNode phase : rank.path("needs").path("phases")) {
            most = Math.max(most, phase.path("plannedUpperBytes").asLong());
        }
        assertThat(room.path("bytes").asLong()).isEqualTo((most + MIB - 1) / MIB * MIB);
        assertThat(rank.path("needs").path("stage").asInt())
                .isEqualTo(rank.path("rank").asInt());
        for (JsonNode limit : rank.path("limitsBytes")) {
            assertThat(limit.asLong())
                    .isPositive()
                    .isLessThanOrEqualTo(room.path("bytes").asLong());
        }
    }

    @Test
    void anEstimateOfTheAllocatorAloneIsRefusedWithoutAnAmount() throws IOException {
        try (UpNode node = UpNode.start(folder, "2xH100-80G");
                TestProcess refused = node.launch("refused", run(node, "reserved", "--wait"), Map.of());
                TestProcess check =
                        node.launch("said", run(node, "reserved", "--check", "--memory-per-rank", "1GiB"), Map.of())) {
            assertThat(refused.awaitExit(WITHIN)).as(refused.log()).isEqualTo(6);
            assertThat(refused.log()).contains("\"measure\": \"device\"").doesNotContain("waits");
            assertThat(check.awaitExit(WITHIN)).as(check.log()).isZero();
            assertThat(check.log()).contains("asks for 2 ranks with 1.0 GiB each");
        }
    }
}
