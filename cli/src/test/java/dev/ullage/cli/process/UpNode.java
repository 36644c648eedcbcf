package dev.ullage.cli.process;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** {@code ullage up} on simulated devices, as a process, with its own folder and ports. */
final class UpNode implements AutoCloseable {
    static final Duration READY_WITHIN = Duration.ofMinutes(1);

    private final Path folder;
    private final int port;
    private TestProcess process;

    private UpNode(Path folder, int port, TestProcess process) {
        this.folder = folder;
        this.port = port;
        this.process = process;
    }

    static UpNode start(Path folder, String simulate) {
        int port = Ports.free();
        TestProcess process = TestProcess.start(folder, "up", command(folder, port, simulate), Map.of());
        process.awaitOutput("ready", READY_WITHIN);
        return new UpNode(folder, port, process);
    }

    private static List<String> command(Path folder, int port, String simulate) {
        return List.of(
                Distribution.ullage(),
                "up",
                "--port",
                Integer.toString(port),
                "--state",
                folder.resolve("state").toString(),
                "--simulate",
                simulate);
    }

    Api api() {
        return new Api(port);
    }

    TestProcess process() {
        return process;
    }

    Path stateDir() {
        return folder.resolve("state");
    }

    Path socket() {
        return stateDir().resolve("ranks.sock");
    }

    /** Starts ranks with this node's socket. */
    TestProcess launch(String name, List<String> command, Map<String, String> environment) {
        Map<String, String> all = new HashMap<>(environment);
        all.put("ULLAGE_SOCKET", socket().toString());
        all.put("PYTHONPATH", Distribution.pythonPath());
        all.put("OMP_NUM_THREADS", "1");
        return TestProcess.start(folder, name, command, all);
    }

    /** {@code python3 -m ullage exec --require -- COMMAND...} with Debian's interpreter. */
    static List<String> exec(List<String> command) {
        List<String> all = new ArrayList<>(List.of(Distribution.PYTHON, "-m", "ullage", "exec", "--require", "--"));
        all.addAll(command);
        return all;
    }

    static List<String> concat(List<String> first, List<String> second) {
        List<String> all = new ArrayList<>(first);
        all.addAll(second);
        return all;
    }

    /** Starts the same node again, after it was stopped or killed. */
    void restart(String simulate) {
        process = TestProcess.start(folder, "up-again", command(folder, port, simulate), Map.of());
        process.awaitOutput("ready", READY_WITHIN);
    }

    @Override
    public void close() {
        process.close();
    }
}
