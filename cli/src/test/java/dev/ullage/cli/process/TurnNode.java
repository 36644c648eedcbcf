package dev.ullage.cli.process;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A node whose jobs take turns, and jobs of scripts that wait for files: {@code go-JOB} and the like. What it has
 * started never outlives the test.
 */
final class TurnNode implements AutoCloseable {
    static final Duration WITHIN = Duration.ofMinutes(2);
    static final long MIB = 1L << 20;
    /** The recorded model of 24 layers needs so much in its burst on top. */
    static final long BURST = 16_569 * MIB;

    private final Path folder;
    private final List<String> command;
    private final Api api;
    private final List<TestProcess> jobs = new ArrayList<>();
    private TestProcess up;

    private TurnNode(Path folder, List<String> command, Api api) {
        this.folder = folder;
        this.command = command;
        this.api = api;
        this.up = started("up");
    }

    /** @param limits what stands in {@code ullage.limits} */
    static TurnNode start(Path folder, String simulate, String limits) throws IOException {
        int port = Ports.free();
        Path settings = Files.writeString(
                folder.resolve("turns.conf"),
                """
                ullage {
                  node.state-dir = "%s"
                  cluster.port = 0
                  http.port = %d
                  worker.devices.simulate = "%s"
                  limits { %s }
                }
                """
                        .formatted(folder.resolve("state"), port, simulate, limits));
        return new TurnNode(
                folder, List.of(Distribution.ullage(), "up", "--config", settings.toString()), new Api(port));
    }

    private TestProcess started(String name) {
        TestProcess process = TestProcess.start(folder, name, command, Map.of());
        process.awaitOutput("is ready", UpNode.READY_WITHIN);
        return process;
    }

    Api api() {
        return api;
    }

    /** SIGKILL, and the same node again. */
    void crash() {
        up.kill();
        up = started("up-again");
    }

    TestProcess job(String script, String name, String... more) throws IOException {
        Path file = Files.writeString(folder.resolve("job-" + name + ".py"), script);
        List<String> line = new ArrayList<>(List.of(Distribution.PYTHON, file.toString(), name, folder.toString()));
        line.addAll(List.of(more));
        TestProcess process = TestProcess.start(
                folder,
                "job-" + name,
                line,
                Map.of(
                        "ULLAGE_SOCKET", folder.resolve("state/ranks.sock").toString(),
                        "PYTHONPATH", Distribution.pythonPath()));
        jobs.add(process);
        return process;
    }

    /** Makes a file that scripts wait for. */
    void let(String name) throws IOException {
        Files.writeString(folder.resolve(name), "");
    }

    static void awaitText(TestProcess job, String text) {
        Eventually.find(
                "it says " + text, WITHIN, () -> Optional.of(job.log()).filter(log -> log.contains(text)), job::log);
    }

    static JsonNode turns(JsonNode status) {
        return Api.devices(status).get(0).path("turns");
    }

    static boolean areTurnsInForce(JsonNode status, int ranks) {
        return Api.areSettled(status, ranks)
                && Api.devices(status).stream()
                        .allMatch(device ->
                                device.path("turns").path("poolInForceBytes").asLong() == BURST);
    }

    @Override
    public void close() {
        jobs.forEach(TestProcess::close);
        up.close();
    }
}
