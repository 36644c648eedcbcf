package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.testing.Requires;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code dev/checks/gpu-run.sh}, the checks for a machine with a GPU, end to end over stand-ins for one. */
class GpuScriptTest {
    private static final Path ROOT = Path.of(
                    Optional.ofNullable(System.getProperty("ullage.root")).orElse(".."))
            .toAbsolutePath()
            .normalize();
    private static final String SCRIPT =
            """
            {"driver": "550.54.15", "count": 1, "cuda": {"order": "0", "context": 503316480},
             "device": [{"uuid": "GPU-00000000-1111-4000-8000-000000000000", "name": "NVIDIA A10",
                         "pci": "00000000:01:00.0", "memory": [24146608128, 541917184, 0, 23604690944]}]}
            """;
    private static final String SMI =
            """
            #!/bin/sh
            case "$*" in
                *noheader*) echo "GPU-00000000-1111-4000-8000-000000000000, 23028" ;;
                *--query-gpu*) printf 'index, uuid, memory.total [MiB], memory.used [MiB], memory.free [MiB]\\n'
                               printf '0, GPU-00000000-1111-4000-8000-000000000000, 23028 MiB, 0 MiB, 22511 MiB\\n' ;;
                -L) echo "GPU 0: NVIDIA A10 (UUID: GPU-00000000-1111-4000-8000-000000000000)" ;;
            esac
            """;

    @TempDir
    private Path folder = Path.of("");

    private final Map<String, String> environment = new TreeMap<>();

    private record Outcome(int code, String out) {}

    private Outcome run(String... command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Outcome(process.exitValue(), out);
    }

    private Path compiled(String source, String name, String... more) throws Exception {
        Path library = Files.createDirectories(folder.resolve("lib")).resolve(name);
        List<String> command = new ArrayList<>(List.of("gcc", "-shared", "-fPIC", "-o", library.toString()));
        command.add(ROOT.resolve("worker/src/test/c").resolve(source).toString());
        command.addAll(List.of(more));
        assertThat(run(command.toArray(String[]::new)).code()).isZero();
        return library;
    }

    @BeforeEach
    void machine() throws Exception {
        Requires.command("gcc", "gcc");
        Path nvml = compiled("fake_nvml.c", "libnvidia-ml-fake.so.1", "-Wl,-Bsymbolic", "-ldl");
        compiled("fake_cuda.c", "libcuda.so.1");
        Path script = Files.writeString(Path.of(nvml + ".json"), SCRIPT);
        Path smi =
                Files.writeString(Files.createDirectory(folder.resolve("bin")).resolve("nvidia-smi"), SMI);
        assertThat(smi.toFile().setExecutable(true)).isTrue();
        environment.put("GPU_CHECK_NVML", nvml.toString());
        environment.put("GPU_CHECK_CLASSPATH", classPath());
        environment.put("FAKE_CUDA_SCRIPT", script.toString());
        environment.put("LD_LIBRARY_PATH", folder.resolve("lib").toString());
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("HOME", folder.toString());
        environment.put("PATH", smi.getParent() + File.pathSeparator + System.getenv("PATH"));
    }

    /** This test's, and the classes of the worker's tests, which are compiled before this module is. */
    private static String classPath() {
        return System.getProperty("java.class.path") + File.pathSeparator + ROOT.resolve("worker/target/test-classes");
    }

    private Outcome checks(String name) throws Exception {
        return run(
                "bash",
                ROOT.resolve("dev/checks/gpu-run.sh").toString(),
                folder.resolve(name).toString());
    }

    @Test
    void aMachineThatIsWellPassesAndLeavesWhatCanBeAttached() throws Exception {
        Outcome outcome = checks("report");
        Path report = folder.resolve("report");

        assertThat(outcome.out())
                .containsPattern("pass +cards, as nvidia-smi lists them +1 cards")
                .containsPattern("pass +a context on GPU-0{8}-\\S+ +480.0 MiB")
                .containsPattern("pass +1 GiB on GPU-0{8}-\\S+ +1073741824 bytes read of 1073741824")
                .containsPattern("pass +ullage devices +1 devices")
                .containsPattern("pass +ullage devices --record +\\d\\d calls")
                .containsPattern("pass +the recording shows the same +to the byte")
                .containsPattern("pass +ullage devices --measure-context +1 measured")
                .containsPattern("pass +what nvidia-smi prints is read +1 devices")
                .contains("to attach: " + report + ".tar.gz");
        // There is no driver in the kernel of a machine with stand-ins, and doctor says so.
        assertThat(outcome.out().lines().filter(line -> line.startsWith("FAIL")))
                .allMatch(line -> line.contains("ullage doctor"));
        assertThat(Files.readString(report.resolve("summary.txt"))).contains(" pass, ");
        assertThat(Files.readString(report.resolve("nvml.json"))).contains("ullage-nvml-1");
        assertThat(run("tar", "-tzf", report + ".tar.gz").out())
                .contains("report/nvml.json", "report/doctor.txt", "report/tool/query-gpu.csv");
    }

    // With --with-java comes a Java of 40 MiB; gpu.sh holds both together below 60. Classes that are in no jar take
    // more.
    @Test
    void aPackIsSmallAndRunsWithNothingBesideItButJava() throws Exception {
        environment.put("GPU_PACK_CLASSPATH", classPath());
        Path pack = folder.resolve("pack");
        Outcome packed = run("bash", ROOT.resolve("dev/checks/gpu.sh").toString(), "--pack", pack.toString());
        assertThat(packed.code()).as(packed.out()).isZero();
        try (Stream<Path> jars = Files.list(pack.resolve("lib"))) {
            assertThat(jars.filter(jar -> String.valueOf(jar.getFileName()).matches("(jcuda-natives|jna)-\\d.*")))
                    .hasSize(2)
                    .allMatch(jar -> jar.toFile().length() < 1 << 20);
        }

        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Path home = Files.createDirectory(elsewhere.resolve("home"));
        assertThat(run("tar", "-xzf", pack + ".tar.gz", "-C", elsewhere.toString())
                        .code())
                .isZero();
        environment.keySet().removeAll(List.of("GPU_CHECK_CLASSPATH", "GPU_PACK_CLASSPATH"));
        environment.put("HOME", home.toString());
        environment.put("PATH", folder.resolve("bin") + ":/usr/bin:/bin");
        List<String> command = new ArrayList<>(List.of("env", "-i"));
        environment.forEach((name, value) -> command.add(name + "=" + value));
        command.addAll(List.of("bash", elsewhere.resolve("pack/gpu-run.sh").toString()));
        command.add(elsewhere.resolve("report").toString());
        Outcome outcome = run(command.toArray(String[]::new));

        assertThat(outcome.out())
                .containsPattern("pass +1 GiB on GPU-0{8}-\\S+ +1073741824 bytes read of 1073741824")
                .containsPattern("pass +the recording shows the same +to the byte")
                .containsPattern("pass +ullage devices --measure-context +1 measured");
        assertThat(outcome.out().lines().filter(line -> line.startsWith("FAIL")))
                .allMatch(line -> line.contains("ullage doctor"));
        assertThat(home).isEmptyDirectory();
    }

    @Test
    void aFigureThatIsWrongFails() throws Exception {
        Files.writeString(
                Path.of(environment.get("GPU_CHECK_NVML") + ".json"), SCRIPT.replace("23604690944", "23604690943"));
        Outcome outcome = checks("report");

        assertThat(outcome.code()).isEqualTo(1);
        assertThat(outcome.out()).containsPattern("FAIL +used \\+ free \\+ reserved = total");
    }

    @Test
    void withoutAGpuAllIsSkippedAndTheReasonSaid() throws Exception {
        environment.put("GPU_CHECK_NVML", folder.resolve("none.so.1").toString());
        Files.delete(folder.resolve("bin/nvidia-smi"));
        Outcome outcome = checks("report");

        assertThat(outcome.out()).containsPattern("skip +all checks +NVML library '\\S+' was not found");
        assertThat(outcome.out().lines().filter(line -> line.matches("(pass|FAIL) .*")))
                .isEmpty();
        assertThat(outcome.code()).isZero();
        assertThat(checks("report").out()).contains("is there already");
    }
}
