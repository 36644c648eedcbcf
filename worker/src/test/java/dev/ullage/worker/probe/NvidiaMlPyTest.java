package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.common.model.DeviceInfo;
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
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Goal: Ullage's figures are those of NVIDIA's own Python binding, and of the tools people have open beside it. Method:
 * all read the same fake library. Where they differ, the difference is named: the binding's default is version 1 of the
 * memory call, which counts what the driver reserves as used; Ullage's figure is version 2's, and that is the right one
 * (case C05).
 */
class NvidiaMlPyTest {
    private static final List<String> PACKAGES = List.of("nvidia-ml-py==12.575.51", "gpustat==1.1.1", "nvitop==1.7.2");
    private static final Path VENV = Path.of("target/nvidia-ml-py").toAbsolutePath();
    private static final Path PYTHON = VENV.resolve("bin/python3");
    private static final Path SCRIPTS = Path.of("src/test/python").toAbsolutePath();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private record Output(int code, String text) {}

    private static Output run(Path libraries, List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("LD_LIBRARY_PATH", libraries.toString());
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Output(process.exitValue(), text);
    }

    private void requireBinding() throws IOException, InterruptedException {
        Requires.python("ensurepip", "python3", "python3-venv");
        if (!Files.exists(PYTHON)
                || run(folder, List.of(PYTHON.toString(), "-c", "import pynvml, gpustat, nvitop"))
                                .code()
                        != 0) {
            run(folder, List.of("python3", "-m", "venv", VENV.toString()));
            List<String> install = new ArrayList<>(
                    List.of(PYTHON.toString(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"));
            install.addAll(PACKAGES);
            Requires.that(
                    run(folder, install).code() == 0,
                    Requires.MACHINE + "the package index with " + PACKAGES + " cannot be reached");
        }
    }

    private FakeNvml host() {
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(3)
                .with("device.0.memory", "24146608128,541917184,3221225472,20383465472")
                .with("device.0.compute", "100:1073741824,200:na")
                .with("device.0.graphics", "300:2147483648")
                .with("device.1.mig", 1)
                .with("device.1.migmax", 7);
        for (int place : new int[] {0, 3}) {
            String device = "device.1.mig" + place + ".";
            nvml.with(device + "uuid", "MIG-0000000%d-0000-5000-9000-000000000000".formatted(place))
                    .with(device + "name", "NVIDIA A100-SXM4-40GB MIG 1g.5gb")
                    .with(device + "gi", 7 + place)
                    .with(device + "ci", 0)
                    .with(device + "memory", "5100273664,0,1048576,5099225088")
                    .with(device + "compute", "40%d:1048576:%d".formatted(place, 7 + place));
        }
        return nvml;
    }

    @Test
    void ullageReadsTheSameDevicesBytesAndProcesses() throws Exception {
        requireBinding();
        FakeNvml nvml = host();
        Path libraries = nvml.installAs("libnvidia-ml.so.1");
        JsonNode theirs = read(libraries, "read_nvml.py");

        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.devices()).hasSize(4).hasSize(theirs.size());
            for (int i = 0; i < theirs.size(); i++) {
                agrees(probe.devices().get(i), probe, theirs.get(i));
            }
        }
    }

    private static JsonNode read(Path libraries, String script) throws IOException, InterruptedException {
        Output read = run(
                libraries, List.of(PYTHON.toString(), SCRIPTS.resolve(script).toString()));
        assertThat(read.code()).as(read.text()).isZero();
        return new ObjectMapper().readTree(read.text());
    }

    @Test
    void gpustatAndNvitopShowTheSameMemory() throws Exception {
        requireBinding();
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(2)
                .with("device.0.memory", "24146608128,541917184,3221225472,20383465472")
                .with("device.0.compute", "100:1073741824,200:na");
        JsonNode theirs = read(nvml.installAs("libnvidia-ml.so.1"), "read_tools.py");

        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.devices()).hasSize(2);
            for (int i = 0; i < 2; i++) {
                DeviceInfo device = probe.devices().get(i);
                DeviceReading reading = probe.read(device.id());
                MemoryUse memory = reading.memory().orElseThrow();
                JsonNode gpustat = theirs.get("gpustat").get(i);
                assertThat(device.id().value()).isEqualTo(gpustat.get("uuid").asText());
                assertThat(memory.total().value() >> 20)
                        .isEqualTo(gpustat.get("totalMib").asLong());
                assertThat(memory.used().value() >> 20)
                        .isEqualTo(gpustat.get("usedMib").asLong());
                agreesWithNvitop(device, reading, theirs.get("nvitop").get(i));
            }
        }
    }

    private static void agreesWithNvitop(DeviceInfo device, DeviceReading reading, JsonNode nvitop) {
        MemoryUse memory = reading.memory().orElseThrow();
        assertThat(device.id().value()).isEqualTo(nvitop.get("uuid").asText());
        assertThat(memory.total().value()).isEqualTo(nvitop.get("total").asLong());
        assertThat(memory.reserved().orElseThrow().value())
                .isEqualTo(nvitop.get("reserved").asLong());
        assertThat(memory.used().value()).isEqualTo(nvitop.get("used").asLong());
        assertThat(memory.free().value()).isEqualTo(nvitop.get("free").asLong());
        List<Long> pids = new ArrayList<>();
        nvitop.get("processes").forEach(pid -> pids.add(pid.asLong()));
        assertThat(reading.processes().orElseThrow().stream()
                        .map(ProcessUse::pid)
                        .sorted()
                        .toList())
                .isEqualTo(pids);
    }

    private static void agrees(DeviceInfo device, NvmlProbe probe, JsonNode theirs) {
        DeviceReading reading = probe.read(device.id());
        MemoryUse memory = reading.memory().orElseThrow();
        MemoryBytes reserved = memory.reserved().orElseThrow();
        assertThat(device.id().value()).isEqualTo(theirs.get("uuid").asText());
        assertThat(device.name()).isEqualTo(theirs.get("name").asText());
        assertThat(memory.total().value()).isEqualTo(theirs.get("total").asLong());
        assertThat(reserved.value()).isEqualTo(theirs.get("reserved").asLong());
        assertThat(memory.used().value()).isEqualTo(theirs.get("used").asLong());
        assertThat(memory.free().value()).isEqualTo(theirs.get("free").asLong());
        assertThat(memory.used().plus(reserved).value())
                .as("version 1 counts the reserve as used")
                .isEqualTo(theirs.get("usedVersion1").asLong());
        List<ProcessUse> processes = reading.processes().orElseThrow();
        assertThat(processes).hasSize(theirs.get("processes").size());
        for (ProcessUse process : processes) {
            JsonNode used = theirs.get("processes").get(Long.toString(process.pid()));
            assertThat(process.used().map(MemoryBytes::value).orElse(null))
                    .isEqualTo(used.isNull() ? null : (Long) used.asLong());
        }
    }
}
