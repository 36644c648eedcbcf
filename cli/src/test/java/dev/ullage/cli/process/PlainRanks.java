package dev.ullage.cli.process;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Ranks without a launcher or torch: the standard-library trainer, one process per rank. */
final class PlainRanks implements AutoCloseable {
    private final List<TestProcess> processes = new ArrayList<>();

    /** Adds a rank on the local device of that index behind the socket. */
    PlainRanks add(Path folder, Path socket, int rank, int worldSize, int device) {
        processes.add(TestProcess.start(
                folder,
                "rank-" + rank,
                List.of(
                        Distribution.PYTHON,
                        "-m",
                        "ullage.demo.trainer",
                        "--model",
                        "plain",
                        "--pace",
                        "0.02",
                        "--seconds",
                        "300"),
                Map.of(
                        "ULLAGE_SOCKET", socket.toString(),
                        "PYTHONPATH", Distribution.pythonPath(),
                        "ULLAGE_JOB", "plain-job",
                        "RANK", Integer.toString(rank),
                        "WORLD_SIZE", Integer.toString(worldSize),
                        "LOCAL_RANK", Integer.toString(device))));
        return this;
    }

    List<TestProcess> processes() {
        return processes;
    }

    /** SIGTERM to all; each must end with 0, which it does only when its loss fell. */
    void stopAll() {
        for (TestProcess process : processes) {
            int code = process.stop();
            if (code != 0) {
                throw new AssertionError("a rank ended with " + code + ":\n" + process.log());
            }
        }
    }

    @Override
    public void close() {
        processes.forEach(TestProcess::close);
    }
}
