package dev.ullage.worker.probe;

import static dev.ullage.common.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.testing.Requires;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script of the fake libraries as people write it: levels, lists, and what changes while it runs. */
class FakeScriptTest {
    private static final NvmlHost HOST =
            new NvmlHost(Optional::empty, CudaFacts.none("no CUDA"), Duration.ofSeconds(20));

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void devicesAnswersAndChangesAreReadFromOneFile() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder)
                .answering(
                        """
                {"driver": "590.48.01", "count": 2,
                 "device": [
                  {"uuid": "GPU-a", "name": "NVIDIA \\u201cH200\\u201d", "pci": "00000000:0A:00.0",
                   "memory": [150754820096, 643825664, 1073741824, 149037252608],
                   "compute": ["4711:1073741824", "4712:na"]},
                  {"uuid": "GPU-b", "memory": [1000, 10, 0, 990], "rc": {"nvmlDeviceGetName": 999}}],
                 "changes": [
                  {"afterCalls": 2, "of": "nvmlDeviceGetMemoryInfo_v2",
                   "set": {"device": {"1": {"memory": null, "rc": {"nvmlDeviceGetMemoryInfo": 15}}}}},
                  {"afterMillis": 300, "set": {"count": 3, "device.2.uuid": "GPU-c"}},
                  {"afterMillis": 86400000, "set": {"count": 0}}]}
                """);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), HOST)) {
            assertThat(probe.description()).isEqualTo("NVML, driver 590.48.01");
            assertThat(probe.devices().get(0).name()).isEqualTo("NVIDIA \u201cH200\u201d");
            assertThat(probe.read(new DeviceId("GPU-a")).processes().orElseThrow())
                    .hasSize(2);
            // The two looks at the start were the first two calls.
            assertThat(probe.read(new DeviceId("GPU-b")).memory()).isEmpty();
            assertThat(probe.problems())
                    .extracting(DeviceProblem::text)
                    .contains("nvmlDeviceGetName: UNKNOWN (999, Some Error); its name is unknown");
            eventually("the third comes", () -> probe.rescan().size() == 3);
            assertThat(probe.devices()).extracting(DeviceInfo::index).containsExactly(0, 1, 2);
        }
    }

    /** In a process of its own, which it ends. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{\"count\": 1,}",
                "{\"count\": 1",
                "{\"count\": 1.5}",
                "{\"count\": one}",
                "{\"device\": [{}}",
                "{\"driver\": \"1}",
                "{\"changes\": [{\"set\": {\"count\": 1}}]}"
            })
    void aScriptThatIsNoneEndsTheProcess(String script) throws Exception {
        Requires.command("gcc", "gcc");
        FakeNvml nvml = FakeNvml.compile(folder).answering(script);
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        GpuChecksMain.class.getName(),
                        nvml.path(),
                        "no-such-nvidia-smi"))
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(output).contains(".json: not a script: ");
        assertThat(process.exitValue()).isEqualTo(90);
    }
}
