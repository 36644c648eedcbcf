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
        Path libraries = Files.createDirectory(folder.resolve("cuda"));
        Path library = libraries.resolve("libcuda.so.1");
        List<String> command = new ArrayList<>(List.of("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared"));
        command.addAll(List.of("-fPIC", "-o", library.toString(), SOURCE.toString()));
        run(Map.of(), command);
        return libraries;
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
        String cuda = libcuda().toString();
        for (String integrated : List.of("0", "1")) {
            Map<String, String> environment = Map.of("LD_LIBRARY_PATH", cuda, "FAKE_CUDA_INTEGRATED", integrated);

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
        Map<String, String> environment = Map.of("LD_LIBRARY_PATH", libcuda().toString(), "FAKE_CUDA_INIT", "100");

        assertThat(run(environment, java(withoutMemory(), false)))
                .contains("(CUDA does not start: CUDA_ERROR_NO_DEVICE)");
    }

    @Test
    void whereNvmlSaysEverythingCudaIsNeverLoaded() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(1);

        assertThat(run(Map.of("LD_LIBRARY_PATH", libcuda().toString()), java(nvml, false)))
                .contains("kind=DISCRETE")
                .contains("loaded=false");
    }

    @Test
    void cudaSaysHowItNumbersUnequalDevices() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(3).with("device.1.name", "NVIDIA H100");
        String cuda = libcuda().toString();

        assertThat(run(Map.of("LD_LIBRARY_PATH", cuda, "FAKE_CUDA_ORDER", "102"), java(nvml, false)))
                .contains("order=[GPU-1, GPU-0, GPU-2]");
        // A list that lacks one of the driver's devices is of another machine, or of a part of this one.
        assertThat(run(Map.of("LD_LIBRARY_PATH", cuda, "FAKE_CUDA_ORDER", "10"), java(nvml, false)))
                .contains("order=?");
    }

    @Test
    void aContextCostsWhatThisProcessUsesWithOne() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(1);
        Map<String, String> environment = Map.of(
                "LD_LIBRARY_PATH",
                libcuda().toString(),
                "FAKE_CUDA_SCRIPT",
                nvml.path() + ".script",
                "FAKE_CUDA_CONTEXT",
                "536870912");

        assertThat(run(environment, java(nvml, true)))
                .contains("overhead=512.0 MiB")
                .contains("how=use of this process with a context");
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
