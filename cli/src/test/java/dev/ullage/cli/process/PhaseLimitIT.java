package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limits may differ by phase: the settings say so, they travel, and the rank switches between them by itself. */
class PhaseLimitIT {
    private static final Duration JOIN_WITHIN = Duration.ofMinutes(1);
    private static final long GIB = 1L << 30;

    /** Enters phases and prints the limit in force in each. */
    private static final String SCRIPT =
            """
            import json, ullage
            rank = ullage.connect(require=True)
            rank.wait_for_limit(30)
            seen = {}
            for phase in ("forward", "backward", "optimizer"):
                with rank.phase(phase):
                    seen[phase] = rank.limit_bytes
            print(json.dumps(seen), flush=True)
            input()
            """;

    @TempDir
    private Path folder;

    @Test
    void theSettingsShareOfAPhaseIsInForceWhileTheRankIsInIt() throws IOException {
        Path settings = folder.resolve("phases.conf");
        int port = Ports.free();
        Files.writeString(
                settings,
                """
                ullage {
                  node.state-dir = "%s"
                  cluster.port = 0
                  http.port = %d
                  worker.devices.simulate = "1xH100-80G"
                  limits.phases { backward = 50%%, optimizer = 25%% }
                }
                """
                        .formatted(folder.resolve("state"), port));
        List<String> up = List.of(Distribution.ullage(), "up", "--config", settings.toString());
        try (TestProcess node = TestProcess.start(folder, "up", up, Map.of())) {
            node.awaitOutput("is ready", UpNode.READY_WITHIN);
            Map<String, String> environment = Map.of(
                    "ULLAGE_SOCKET", folder.resolve("state/ranks.sock").toString(),
                    "PYTHONPATH", Distribution.pythonPath(),
                    "ULLAGE_JOB", "phases");
            List<String> script =
                    List.of("sh", "-c", "sleep 60 | exec " + Distribution.PYTHON + " -c '" + SCRIPT + "'");
            try (TestProcess rank = TestProcess.start(folder, "rank", script, environment)) {
                JsonNode status = new Api(port).await("the rank settles", JOIN_WITHIN, now -> Api.areSettled(now, 1));
                JsonNode limits = Api.ranks(status).get(0).path("limitsBytes");
                assertThat(limits.path("FORWARD").asLong()).isEqualTo(64 * GIB);
                assertThat(limits.path("BACKWARD").asLong()).isEqualTo(32 * GIB);
                assertThat(Api.ranks(status).get(0).path("ceilingBytes").asLong())
                        .as("what counts is the highest limit of any phase")
                        .isEqualTo(64 * GIB);

                rank.awaitOutput("optimizer", JOIN_WITHIN);
                JsonNode seen = new ObjectMapper().readTree(rank.log());
                assertThat(seen.path("forward").asLong()).isEqualTo(64 * GIB);
                assertThat(seen.path("backward").asLong()).isEqualTo(32 * GIB);
                assertThat(seen.path("optimizer").asLong()).isEqualTo(16 * GIB);
            }
        }
    }
}
