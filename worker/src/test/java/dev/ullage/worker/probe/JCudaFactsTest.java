package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** CUDA is asked only where NVML cannot say, through JCuda's real binding and a {@code libcuda.so.1} built here. */
class JCudaFactsTest {
    private static final Path SOURCE = Path.of("src/test/c/fake_cuda.c");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static String run(Map<String, String> environment, List<String> command)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    private Path libcuda() throws Exception {
        Requires.command("gcc", "gcc");
        Path libraries = Files.createDirectories(folder.resolve("cuda"));
        Path library = libraries.resolve("libcuda.so.1");
        List<String> command = new ArrayList<>(List.of("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared"));
        command.addAll(List.of("-fPIC", "-o", library.toString(), SOURCE.toString()));
        run(Map.of(), command);
        return libraries;
    }

    /** An environment in which CUDA answers from the same script. */
    private Map<String, String> cuda(FakeNvml nvml) throws Exception {
        return Map.of(
                "LD_LIBRARY_PATH",
                libcuda().toString(),
                "FAKE_CUDA_SCRIPT",
                nvml.script().toString());
    }

    private static List<String> java(FakeNvml nvml, boolean measures) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                CudaFactsMain.class.getName(),
                nvml.path(),
                Boolean.toString(measures));
    }

    private FakeNvml withoutMemory() {
        return FakeNvml.compile(folder).withDevices(1).without("device.0.memory");
    }

    @Test
    void cudaDecidesWhetherADeviceSharesTheHostsMemory() throws Exception {
        FakeNvml nvml = withoutMemory();
        Map<String, String> environment = cuda(nvml);
        for (String integrated : List.of("0", "1")) {
            nvml.with("cuda.integrated", integrated);

            assertThat(run(environment, java(nvml, false)))
                    .contains("kind=" + (integrated.equals("1") ? "UNIFIED" : "DISCRETE"))
                    .contains("problems=[]")
                    .contains("loaded=true");
        }
    }

    @Test
    void withoutCudaThatIsAFactInOneLineAndNoStackTrace() throws Exception {
        assertThat(run(Map.of("LD_LIBRARY_PATH", folder.toString()), java(withoutMemory(), true)))
                .contains("kind=UNIFIED")
                .contains("judged by NVML alone (CUDA cannot be asked: libcuda.so.1 or JCuda's library for it cannot be"
                        + " loaded here)")
                .contains("overhead=?")
                .doesNotContain("\tat ");
    }

    @Test
    void aCudaThatDoesNotStartSaysWhy() throws Exception {
        FakeNvml nvml = withoutMemory().with("cuda.rc.cuInit", 100);

        assertThat(run(cuda(nvml), java(nvml, false))).contains("(CUDA does not start: CUDA_ERROR_NO_DEVICE)");
    }

    @Test
    void whereNvmlSaysEverythingCudaIsNeverLoaded() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(1);

        assertThat(run(cuda(nvml), java(nvml, false))).contains("kind=DISCRETE").contains("loaded=false");
    }

    @Test
    void cudaSaysHowItNumbersUnequalDevices() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(3).with("device.1.name", "NVIDIA H100");
        Map<String, String> environment = cuda(nvml.with("cuda.order", 102));

        assertThat(run(environment, java(nvml, false))).contains("order=[GPU-1, GPU-0, GPU-2]");
        // A list that lacks one of the driver's devices is of another machine, or of a part of this one.
        nvml.with("cuda.order", 10);
        assertThat(run(environment, java(nvml, false))).contains("order=?");
        // Behind one that CUDA cannot name, nobody's place is known.
        nvml.with("cuda.order", 3102).with("device.3.uuid", FakeNvml.uuid(0));
        assertThat(run(environment, java(nvml, false))).contains("order=?");
    }

    @Test
    void aContextCostsWhatThisProcessUsesWithOne() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(1).with("cuda.context", 536870912);

        assertThat(run(cuda(nvml), java(nvml, true)))
                .contains("overhead=512.0 MiB")
                .contains("how=use of this process with a context");
    }

    // Where NVML has neither figures nor processes, CUDA has what is free with the context, and nobody else has any.
    @Test
    void whereNvmlHasNoFiguresWhatCudaDoesNotHaveFreeIsTheContexts() throws Exception {
        FakeNvml nvml = withoutMemory()
                .with("cuda.total", 40_000_000_000L)
                .with("cuda.context", 400_000_000)
                .with("cuda.hidden", 1);

        assertThat(run(cuda(nvml), java(nvml, true)))
                .contains("overhead=381.5 MiB")
                .contains("how=what CUDA does not have free, with no other process");
    }

    @Test
    void whereNvmlHasNoFiguresTheTotalIsCudasAndUseThatOfTheProcesses() throws Exception {
        FakeNvml nvml = withoutMemory().with("cuda.total", 40_000_000_000L).with("device.0.compute", "7:1000,8:2000");

        assertThat(run(cuda(nvml), java(nvml, false)))
                .contains("kind=DISCRETE")
                .contains("memory=[total 40000000000 used 3000 free 39999997000 reserved ?]")
                .contains("nvmlDeviceGetMemoryInfo: NOT_SUPPORTED (3, Not Supported); the total is CUDA's, and what is"
                        + " used is the sum over the processes");

        nvml.with("device.0.compute", "7:1000,8:na");
        assertThat(run(cuda(nvml), java(nvml, false))).contains("memory=?").contains("; memory is unknown");
    }

    @Test
    void whereTheProcessIsNotListedTheRiseOfTheDevicesUseIsTakenAndSaidSo() {
        DeviceReading before = reading(100, new ProcessUse(7, Optional.of(MemoryBytes.of(50))));
        DeviceReading with = reading(300, new ProcessUse(7, Optional.empty()));

        assertThat(ContextOverhead.between(before, with, 7))
                .isEqualTo(new ContextOverhead(
                        Optional.of(MemoryBytes.of(200)), "rise of the device's use, in which others may have a part"));
        assertThat(ContextOverhead.between(with, before, 8).bytes()).isEmpty();
        assertThat(ContextOverhead.between(before, reading(300, new ProcessUse(7, Optional.of(MemoryBytes.of(90)))), 7)
                        .bytes())
                .contains(MemoryBytes.of(40));
    }

    private static DeviceReading reading(long used, ProcessUse process) {
        MemoryUse memory = new MemoryUse(
                MemoryBytes.of(1000), Optional.empty(), MemoryBytes.of(used), MemoryBytes.of(1000 - used));
        return new DeviceReading(Optional.of(memory), Optional.of(List.of(process)), List.of());
    }
}
