package dev.ullage.worker.probe;

import com.sun.management.ThreadMXBean;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.MemoryBytes;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What one round of readings costs: 8 devices with 64 processes each, through JNA on the fake library, against the
 * cheapest child process there could be in the place of {@code nvidia-smi}, one that only prints a recorded answer. Run
 * by {@code bench/probe.sh}.
 */
public final class ProbeBenchMain {
    private static final int DEVICES = 8;
    private static final int PROCESSES = 64;
    private static final int WARM_UP = 3_000;
    private static final int ROUNDS = 2_000;
    private static final int CHILDREN = 100;
    private static final long INTERVAL_NANOS = 100_000_000;

    private ProbeBenchMain() {}

    private interface Round {
        long run() throws IOException;
    }

    /** @param highNanos what 99 of 100 rounds stayed under */
    private record Cost(String what, long medianNanos, long highNanos, long allocatedBytes) {
        String row() {
            return "| %-34s | %12.1f | %12.1f | %16d | %20.2f |"
                    .formatted(
                            what,
                            medianNanos / 1e3,
                            highNanos / 1e3,
                            allocatedBytes,
                            100.0 * medianNanos / INTERVAL_NANOS);
        }
    }

    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory("ullage-probe-bench");
        FakeNvml nvml = FakeNvml.compile(folder, "-O2", "-DBENCH").withDevices(DEVICES);
        for (int device = 0; device < DEVICES; device++) {
            int first = 1000 * (device + 1);
            String list = IntStream.range(0, PROCESSES)
                    .mapToObj(i ->
                            (first + i) + ":" + MemoryBytes.ofMebibytes(100 + i).value())
                    .collect(Collectors.joining(","));
            nvml.with("device." + device + ".compute", list);
        }
        Path answer = folder.resolve("answer.csv");
        Files.write(answer, recorded());
        List<Cost> costs = new ArrayList<>();
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            measure("warm-up", WARM_UP, () -> round(probe));
            costs.add(measure("NVML through JNA, 8 x 64 processes", ROUNDS, () -> round(probe)));
        }
        costs.add(measure("a child that prints as many lines", CHILDREN, () -> child(answer)));
        System.out.println(
                "| one round                          | median, us   | 99 %, us     | allocated, bytes | % of a"
                        + " core at 100 ms |");
        System.out.println("|---|---|---|---|---|");
        costs.forEach(cost -> System.out.println(cost.row()));
        System.out.println(
                "The child's own processor time is not in its row; the real nvidia-smi also opens every device.");
    }

    private static Cost measure(String what, int rounds, Round round) throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[] nanos = new long[rounds];
        long seen = 0;
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < rounds; i++) {
            long start = System.nanoTime();
            seen += round.run();
            nanos[i] = System.nanoTime() - start;
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        if (seen != (long) rounds * DEVICES * PROCESSES) {
            throw new IllegalStateException(what + " saw " + seen + " processes");
        }
        Arrays.sort(nanos);
        return new Cost(what, nanos[rounds / 2], nanos[rounds * 99 / 100], allocated / rounds);
    }

    private static long round(NvmlProbe probe) {
        long seen = 0;
        for (DeviceInfo device : probe.devices()) {
            DeviceReading reading = probe.read(device.id());
            seen += reading.processes().orElseThrow().size();
        }
        return seen;
    }

    private static List<String> recorded() {
        return IntStream.range(0, DEVICES * PROCESSES)
                .mapToObj(i -> FakeNvml.uuid(i % DEVICES) + ", " + (1000 + i) + ", /usr/bin/python3, " + (100 + i))
                .toList();
    }

    private static long child(Path answer) throws IOException {
        Process process = new ProcessBuilder("cat", answer.toString()).start();
        long lines = 0;
        try (var reader = process.inputReader()) {
            while (reader.readLine() != null) {
                lines++;
            }
        }
        return lines;
    }
}
