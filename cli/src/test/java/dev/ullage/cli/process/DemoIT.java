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

/** The README's first command, for a shorter time: its summary must hold, and be the only thing on standard output. */
class DemoIT {
    private static final Duration END_WITHIN = Duration.ofMinutes(4);

    @TempDir
    private Path folder;

    @Test
    void eightRanksTrainWithinChangingLimitsAndNothingIsOverCommitted() throws IOException {
        List<String> command = List.of(
                "sh", "-c", "exec " + Distribution.ullage() + " demo --duration 20s --json 2>" + folder + "/err");
        try (TestProcess demo = TestProcess.start(folder, "demo", command, Map.of())) {
            int exitCode = demo.awaitExit(END_WITHIN);
            String errors = Files.readString(folder.resolve("err"));
            assertThat(exitCode).as("%s%n%s", demo.log(), errors).isZero();
            JsonNode summary = new ObjectMapper().readTree(demo.log());
            assertThat(summary.path("passed").asBoolean()).isTrue();
            assertThat(summary.path("overCommits").asLong(-1)).isZero();
            assertThat(summary.path("ranks").asInt()).isGreaterThanOrEqualTo(8);
            assertThat(summary.path("limits").path("confirmed").asLong()).isGreaterThanOrEqualTo(20);
            assertThat(summary.path("allocatorRefusals").asLong()).isPositive();
            for (JsonNode device : summary.path("devices")) {
                assertThat(device.path("highestPromisedBytes").asLong())
                        .isLessThanOrEqualTo(device.path("budgetBytes").asLong());
            }
        }
    }
}
