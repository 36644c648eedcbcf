package dev.ullage.cli.process;

import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** {@code ullage up} over the stand-in for NVML, with one card that is cut into MIG instances. */
final class MigNode implements AutoCloseable {
    private static final Duration READY_WITHIN = Duration.ofMinutes(1);
    private static final long SLICE = 10L << 30;
    private static final Path SOURCE = Path.of(
                    Optional.ofNullable(System.getProperty("ullage.root")).orElse(".."))
            .resolve("worker/src/test/c/fake_nvml.c");

    private final Path folder;
    private final int port = Ports.free();
    private final TestProcess process;

    MigNode(Path folder, int instances) throws IOException, InterruptedException {
        this.folder = folder;
        Path library = driver(instances);
        Path settings = Files.writeString(
                folder.resolve("mig.conf"),
                "ullage.worker.devices { nvml-library = \"%s\", lock-dir = \"%s\" }%n"
                        .formatted(library, folder.resolve("locks")));
        process = TestProcess.start(
                folder,
                "up",
                List.of(
                        Distribution.ullage(),
                        "up",
                        "--config",
                        settings.toString(),
                        "--cluster-port",
                        "0",
                        "--port",
                        Integer.toString(port),
                        "--state",
                        stateDir().toString()),
                Map.of());
        process.awaitOutput("ready", READY_WITHIN);
    }

    static String uuid(int instance) {
        return "MIG-%d0000000-0000-5000-9000-000000000000".formatted(instance);
    }

    private Path driver(int instances) throws IOException, InterruptedException {
        Requires.command("gcc", "gcc");
        Path library = folder.resolve("libnvidia-ml-fake.so.1").toAbsolutePath();
        Process compiler = new ProcessBuilder(
                        "gcc",
                        "-shared",
                        "-fPIC",
                        "-Wl,-Bsymbolic",
                        "-o",
                        library.toString(),
                        SOURCE.toString(),
                        "-ldl")
                .redirectErrorStream(true)
                .start();
        String output = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (compiler.waitFor() != 0) {
            throw new AssertionError("the stand-in for NVML does not compile: " + output);
        }
        List<String> script = new ArrayList<>(List.of(
                "count=1",
                "driver=550.54.15",
                "device.0.uuid=GPU-10000000-0000-4000-8000-000000000000",
                "device.0.name=NVIDIA H100 80GB HBM3",
                "device.0.pci=00000000:01:00.0",
                "device.0.mig=1",
                "device.0.migmax=7"));
        for (int i = 0; i < instances; i++) {
            String instance = "device.0.mig" + i + ".";
            script.add(instance + "uuid=" + uuid(i));
            script.add(instance + "name=NVIDIA H100 80GB HBM3 MIG 1g.10gb");
            script.add(instance + "gi=" + (7 + i));
            script.add(instance + "ci=0");
            script.add(instance + "memory=%d,0,0,%d".formatted(SLICE, SLICE));
        }
        Files.write(Path.of(library + ".script"), script);
        return library;
    }

    Api api() {
        return new Api(port);
    }

    Path stateDir() {
        return folder.resolve("state");
    }

    /** Starts a job with this node's socket. */
    TestProcess launch(String name, List<String> command) {
        Map<String, String> all = new HashMap<>();
        all.put("ULLAGE_SOCKET", stateDir().resolve("ranks.sock").toString());
        all.put("PYTHONPATH", Distribution.pythonPath());
        all.put("OMP_NUM_THREADS", "1");
        return TestProcess.start(folder, name, command, all);
    }

    @Override
    public void close() {
        process.close();
    }
}
