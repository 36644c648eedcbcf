package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.show.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ullage run} of a job that asks for nothing: zero is none, and never all. */
class RunNoneTest {
    private final FakeServer server;
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    RunNoneTest() throws IOException {
        server = new FakeServer();
        server.answerWith(
                200,
                """
                {"schema":1,"nodes":[{"node":"a","devices":[{"uuid":"GPU-1","index":0,"name":"H100","kind":"discrete",
                 "allocatableBytes":85899345920,"reserveBasisPoints":2000,"foreignBytes":0,"ceilingBytes":0}]}]}
                """);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private int run(String... words) {
        List<String> all =
                new ArrayList<>(List.of("run", "--server", server.uri().toString(), "--dry-run"));
        all.addAll(List.of(words));
        return UllageMain.commandLine(new CliEnvironment(
                        Map.of("HOME", "/nowhere", "CUDA_VISIBLE_DEVICES", "0", "NVIDIA_VISIBLE_DEVICES", "all"),
                        new PrintWriter(out),
                        new PrintWriter(err),
                        Terminal.NONE))
                .execute(all.toArray(new String[0]));
    }

    @Test
    void zeroRanksSeeNoDeviceAndDoNotWait() {
        assertThat(run("--ranks", "0", "--wait", "--", "python3", "x.py"))
                .as(err.toString())
                .isZero();
        assertThat(out.toString())
                .contains("export CUDA_VISIBLE_DEVICES=''\n", "export NVIDIA_VISIBLE_DEVICES=void\n")
                .contains("python3 x.py");
    }

    // Goal: who has mended one thing is not told of the next.
    @Test
    void aMissingCommandIsSaidWithAllElseThatIsWrong(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("job.yaml"), "ranks: 2\nmemoryPerRank: lots\npriority: soon\n");

        assertThat(run("--job-file", file.toString())).isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString())
                .contains("the command that starts the job is missing", "memoryPerRank = lots", "priority = soon")
                .doesNotContain("starts 1", "cannot be told");

        err.getBuffer().setLength(0);
        Files.writeString(file, "ranks: 2\nrank: 3\nmemoryPerRank: lots\n");
        run("--job-file", file.toString());
        assertThat(err.toString())
                .contains("the command that starts the job is missing", "memoryPerRank = lots", "job.yaml:2");

        err.getBuffer().setLength(0);
        Files.writeString(file, "memoryPerRank: 10GiB\n");
        run("--job-file", file.toString());
        assertThat(err.toString()).contains("refused: the command that starts the job is missing\n");
    }

    @Test
    void fewerThanNoneAreRefused() {
        assertThat(run("--ranks", "-1", "--", "python3", "x.py")).isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString()).contains("--ranks and --gpus 0 or more");
    }
}
