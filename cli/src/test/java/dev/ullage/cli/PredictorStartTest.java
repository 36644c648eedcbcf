package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.show.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A node whose settings name a predictor that is not installed does not start. The network is not on this class path.
 */
class PredictorStartTest {
    @Test
    void aNetworkThatIsNotThereIsSaidBeforeAnythingStarts(@TempDir Path folder) throws IOException {
        Path settings = folder.resolve("lstm.conf");
        Files.writeString(
                settings,
                """
                ullage {
                  node.state-dir = "%s"
                  cluster.port = 0
                  http.port = 0
                  worker.devices.simulate = "1x80GiB"
                  limits.policies.observed.predictor = lstm
                }
                """
                        .formatted(folder.resolve("state")));
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = UllageMain.commandLine(
                        new CliEnvironment(Map.of(), new PrintWriter(out), new PrintWriter(err), Terminal.NONE))
                .execute("up", "--config", settings.toString());

        assertThat(code).isEqualTo(ExitCode.BAD_SETTINGS.code());
        assertThat(err.toString())
                .contains("ullage.limits.policies.observed.predictor = lstm: the predictor 'lstm' needs ullage-network"
                        + " and onnxruntime in the folder lib");
        assertThat(folder.resolve("state/ranks.sock")).doesNotExist();
    }
}
