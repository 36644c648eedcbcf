package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A rank in a pid namespace of its own, as in a container, and the worker outside: the rank gives the pid that it
 * knows, the worker keeps the one of the host, and takes the grant back when that process is gone.
 */
class ContainerIT {
    private static final Duration WITHIN = Duration.ofMinutes(1);

    private static final String SCRIPT =
            """
            import os, sys, ullage
            rank = ullage.connect(require=True)
            print("own pid", os.getpid(), "limit", rank.wait_for_limit(30), flush=True)
            sys.stdin.read()
            """;

    @TempDir
    private Path folder;

    @Test
    void aRankInAContainerIsKnownByItsPidOnTheHost() throws IOException {
        Requires.that("root".equals(System.getProperty("user.name")), Requires.MACHINE + "a pid namespace needs root");
        Requires.command("unshare", "util-linux");
        Path state = folder.resolve("state");
        int port = Ports.free();
        List<String> up = List.of(
                Distribution.ullage(),
                "up",
                "--simulate",
                "1xH100-80G",
                "--state",
                state.toString(),
                "--cluster-port",
                "0",
                "--port",
                Integer.toString(port));
        try (TestProcess node = TestProcess.start(folder, "up", up, Map.of())) {
            node.awaitOutput("is ready", UpNode.READY_WITHIN);
            Map<String, String> environment = Map.of(
                    "ULLAGE_SOCKET", state.resolve("ranks.sock").toString(),
                    "PYTHONPATH", Distribution.pythonPath(),
                    "ULLAGE_JOB", "contained");
            String inside = "sleep 60 | exec " + Distribution.PYTHON + " -c '" + SCRIPT + "'";
            List<String> unshare =
                    List.of("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", inside);
            Api api = new Api(port);
            try (TestProcess rank = TestProcess.start(folder, "rank", unshare, environment)) {
                JsonNode status = api.await("the rank settles", WITHIN, now -> Api.areSettled(now, 1));
                rank.awaitOutput("limit", WITHIN);
                long pid = Api.ranks(status).get(0).path("pid").asLong();
                assertThat(rank.log()).doesNotContain("own pid " + pid + " ").contains("own pid ");
                assertThat(Files.readString(Path.of("/proc/" + pid + "/cmdline")))
                        .contains("ullage.connect");
            }
            api.await("the grant is taken back", WITHIN, now -> Api.ranks(now).isEmpty());
        }
    }
}
