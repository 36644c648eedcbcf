package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands an operator types, against a running node with a rank. */
class OperatorIT {
    private static final Duration JOIN_WITHIN = Duration.ofMinutes(1);
    private static final Duration END_WITHIN = Duration.ofSeconds(30);
    private static final long GIB = 1L << 30;

    @TempDir
    private Path folder;

    private int commands;

    /** What a command printed, on both streams, and its exit code. */
    private record Answer(int exitCode, String text) {}

    private Answer ullage(String... arguments) {
        List<String> command = new ArrayList<>(List.of(Distribution.ullage()));
        command.addAll(List.of(arguments));
        try (TestProcess process = TestProcess.start(folder, "command-" + commands++, command, Map.of())) {
            int exitCode = process.awaitExit(END_WITHIN);
            return new Answer(exitCode, process.log());
        }
    }

    @Test
    void statusShowsTheRankAndWritesChangeItOrSayWhyNot() throws IOException {
        try (UpNode node = UpNode.start(folder, "2xH100-80G");
                PlainRanks ranks = new PlainRanks()) {
            ranks.add(folder, node.socket(), 0, 1, 1);
            node.api()
                    .await(
                            "the rank settles, held by its own allocator",
                            JOIN_WITHIN,
                            now -> Api.areSettled(now, 1)
                                    && Api.ranks(now)
                                            .get(0)
                                            .path("enforcedBy")
                                            .asText()
                                            .equals("allocator"));
            String server = node.api().base();
            String token = node.stateDir().resolve("operator.token").toString();

            Answer table = ullage("status", "--server", server);
            assertThat(table.exitCode()).isZero();
            assertThat(table.text()).contains("plain-job", "allocator", "64.0 GiB");

            Answer json = ullage("status", "--json", "--server", server);
            JsonNode status = new ObjectMapper().readTree(json.text());
            assertThat(status.path("schema").isInt()).isTrue();
            assertThat(Api.ranks(status)).hasSize(1);

            Answer set = ullage("set", "share", "plain-job/0", "25%", "--server", server, "--token-file", token);
            assertThat(set.exitCode()).as(set.text()).isZero();
            node.api()
                    .await(
                            "a quarter of the limit is confirmed",
                            JOIN_WITHIN,
                            now -> Api.areSettled(now, 1)
                                    && Api.ranks(now)
                                                    .get(0)
                                                    .path("ceilingBytes")
                                                    .asLong()
                                            == 16 * GIB);

            assertRefused(server, token);
            assertRecorded(node);
            ranks.stopAll();
        }
    }

    private void assertRefused(String server, String token) {
        Answer device =
                ullage("set", "reserve", "30%", "--device", "GPU-none", "--server", server, "--token-file", token);
        assertThat(device.exitCode()).as(device.text()).isEqualTo(6);
        assertThat(device.text()).contains("GPU-none").contains("known");

        Answer job = ullage("set", "share", "no-job", "30%", "--server", server, "--token-file", token);
        assertThat(job.exitCode()).as(job.text()).isEqualTo(6);
        assertThat(job.text()).contains("no-job").contains("plain-job");

        Answer wrong = ullage("set", "reserve", "130%", "--server", server, "--token-file", token);
        assertThat(wrong.exitCode()).as(wrong.text()).isEqualTo(2);
        assertThat(wrong.text()).contains("130%");
    }

    // Goal: what a real node wrote is decided the same again. Two of the writes were refused by the coordinator.
    private void assertRecorded(UpNode node) {
        Answer replay = ullage("replay", node.stateDir().toString());
        assertThat(replay.exitCode()).as(replay.text()).isZero();
        assertThat(replay.text())
                .containsPattern("[1-9]\\d* decisions? planned again: [1-9]\\d* the same, 0 different")
                .contains("3 of kind operator");

        JsonNode newest = node.api()
                .get("/api/v1/decisions?job=plain-job")
                .orElseThrow()
                .path("items")
                .path(0);
        assertThat(newest.path("kind").asText()).isEqualTo("plan");
        assertThat(newest.at("/planning/outcome/limits/0/limits/forward").asLong())
                .isEqualTo(16 * GIB);
    }

    @Test
    void withoutACoordinatorStatusSaysWhatToStart() {
        Answer answer = ullage("status", "--server", "http://127.0.0.1:" + Ports.free());

        assertThat(answer.exitCode()).isEqualTo(5);
        assertThat(answer.text()).contains("ullage up").doesNotContain("\tat ");
    }
}
