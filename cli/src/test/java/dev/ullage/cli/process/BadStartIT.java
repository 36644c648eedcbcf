package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What cannot start says why, what to do about it, and ends with the exit code of the contract. */
class BadStartIT {
    private static final Duration END_WITHIN = Duration.ofMinutes(1);

    @TempDir
    private Path folder;

    private TestProcess ullage(String... arguments) {
        List<String> command = Stream.concat(Stream.of(Distribution.ullage()), Stream.of(arguments))
                .toList();
        return TestProcess.start(folder, "bad", command, Map.of());
    }

    private static String up(Path state) {
        return state.toString();
    }

    @Test
    void withoutAGpuAndWithoutSimulateItNamesBothWaysOut() {
        try (TestProcess process = ullage("up", "--port", "0", "--state", up(folder.resolve("s")))) {
            Assumptions.assumeFalse(Files.exists(Path.of("/dev/nvidiactl")), "this machine has a GPU");
            assertThat(process.awaitExit(END_WITHIN)).as(process.log()).isEqualTo(3);
            assertThat(process.log())
                    .contains("no GPU can be used")
                    .contains("NVIDIA driver")
                    .contains("--simulate");
            assertThat(process.log()).doesNotContain("\tat ");
        }
    }

    @Test
    void aSecondWorkerOnTheSameStateFolderIsRefusedAndTheFirstGoesOn() {
        try (UpNode first = UpNode.start(folder, "1xH100-80G");
                TestProcess second =
                        ullage("up", "--port", "0", "--state", up(first.stateDir()), "--simulate", "1xH100-80G")) {
            assertThat(second.awaitExit(END_WITHIN)).as(second.log()).isEqualTo(6);
            assertThat(second.log()).contains("another worker uses the state folder");
            assertThat(first.api().status()).isPresent();
        }
    }

    @Test
    void aWorkerThatHasFoundNoCoordinatorYetEndsInOrderWhenItIsTold() throws IOException {
        Path file = Files.writeString(
                folder.resolve("alone.conf"),
                "ullage.cluster { port = 0, seed-nodes = [\"127.0.0.1:%d\"] }%n".formatted(Ports.free()));
        try (TestProcess worker = ullage(
                "worker",
                "--config",
                file.toString(),
                "--state",
                up(folder.resolve("s")),
                "--simulate",
                "1xH100-80G")) {
            worker.awaitOutput("worker started", END_WITHIN);

            assertThat(worker.stop()).as(worker.log()).isZero();

            assertThat(worker.log()).doesNotContain("joining again").doesNotContain("addJvmShutdownHook");
        }
    }

    @Test
    void aPortInUseIsNamed() throws IOException {
        assertPortInUseIsNamed("--port", "--cluster-port");
    }

    @Test
    void aClusterPortInUseIsNamed() throws IOException {
        assertPortInUseIsNamed("--cluster-port", "--port");
    }

    private void assertPortInUseIsNamed(String taken, String free) throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(socket.getLocalPort());
            String state = up(folder.resolve("s"));
            try (TestProcess process =
                    ullage("up", taken, port, free, "0", "--state", state, "--simulate", "1xH100-80G")) {
                assertThat(process.awaitExit(END_WITHIN)).as(process.log()).isEqualTo(8);
                assertThat(process.log()).contains(port).contains(taken).doesNotContain("\tat ");
            }
        }
    }

    @Test
    void wrongSettingsAreAllReportedWithWhereTheyStand() throws IOException {
        Path settings = folder.resolve("wrong.conf");
        Files.writeString(
                settings,
                """
                ullage {
                  http.port = 70000
                  limits.reserve = 120%
                  worker.sample-intervall = 1s
                }
                """);
        try (TestProcess process = ullage("up", "--config", settings.toString(), "--simulate", "4xH100-0G")) {
            assertThat(process.awaitExit(END_WITHIN)).as(process.log()).isEqualTo(4);
            assertThat(process.log())
                    .contains("ullage.http.port")
                    .contains("70000")
                    .contains("wrong.conf: 2")
                    .contains("ullage.limits.reserve")
                    .contains("120%")
                    .contains("wrong.conf: 3")
                    .contains("sample-intervall")
                    .contains("sample-interval")
                    .contains("wrong.conf: 4");
        }
    }

    @Test
    void anUnreadableSettingsFileIsNamed() {
        try (TestProcess process =
                ullage("up", "--config", folder.resolve("missing.conf").toString())) {
            assertThat(process.awaitExit(END_WITHIN)).as(process.log()).isEqualTo(4);
            assertThat(process.log()).contains("missing.conf");
        }
    }

    @Test
    void aWrongSimulationIsABadSettingWithPositionAndRule() {
        try (TestProcess process =
                ullage("up", "--port", "0", "--state", up(folder.resolve("s")), "--simulate", "0xH100-80G,2xA100-0G")) {
            assertThat(process.awaitExit(END_WITHIN)).as(process.log()).isEqualTo(4);
            assertThat(process.log()).contains("item 1").contains("item 2").contains("--simulate");
        }
    }

    @Test
    void aStateFolderThatIsAFileIsRefused() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        try (TestProcess process = ullage("up", "--port", "0", "--state", up(file), "--simulate", "1xH100-80G")) {
            assertThat(process.awaitExit(END_WITHIN)).as(process.log()).isEqualTo(7);
            assertThat(process.log()).contains(file.toString()).contains("--state");
        }
    }

    @Test
    void sigtermEndsANodeInOrder() {
        try (UpNode node = UpNode.start(folder, "1xH100-80G")) {
            assertThat(node.process().stop()).as(node.process().log()).isZero();
            assertThat(node.socket()).doesNotExist();
            assertThat(node.process().log()).doesNotContain(" ERROR ").doesNotContain("Exception");
        }
    }
}
