package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The checks for real devices, over stand-ins for NVML, CUDA and {@code nvidia-smi} that agree, and over ones that do
 * not: each check can fail.
 */
class GpuChecksTest {
    private static final long MIB = 1 << 20;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private final Map<String, String> cuda = new HashMap<>();
    private String totals = "";

    @SuppressWarnings("NullAway.Init") // before each test
    private FakeNvml nvml;

    @BeforeEach
    void agree() throws Exception {
        Requires.command("gcc", "gcc");
        nvml = FakeNvml.compile(folder).withDevices(2);
        totals = "%s, 23028\\n%s, 23028\\n".formatted(FakeNvml.uuid(0), FakeNvml.uuid(1));
        Path libraries = Files.createDirectory(folder.resolve("cuda"));
        run(
                0,
                List.of(
                        "gcc",
                        "-shared",
                        "-fPIC",
                        "-o",
                        libraries.resolve("libcuda.so.1").toString(),
                        "src/test/c/fake_cuda.c"));
        cuda.put("LD_LIBRARY_PATH", libraries.toString());
        cuda.put("FAKE_CUDA_ORDER", "01");
        cuda.put("FAKE_CUDA_SCRIPT", nvml.path() + ".script");
        cuda.put("FAKE_CUDA_CONTEXT", Long.toString(512 * MIB));
    }

    private String run(int code, List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(cuda);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isEqualTo(code);
        return output;
    }

    private String checks(int code) throws Exception {
        Path smi = Files.writeString(folder.resolve("nvidia-smi"), "#!/bin/sh\nprintf '" + totals + "'\n");
        assertThat(smi.toFile().setExecutable(true)).isTrue();
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return run(
                code,
                List.of(
                        java,
                        "-cp",
                        System.getProperty("java.class.path"),
                        GpuChecksMain.class.getName(),
                        nvml.path(),
                        smi.toString()));
    }

    @Test
    void whatHoldsIsFound() throws Exception {
        assertThat(checks(0))
                .contains("cards=2\n", "totals=2\n", "context=512.0 MiB\n", "known=1.0 GiB\n")
                .doesNotContain("FAILED");
    }

    @Test
    void aDeviceThatTheToolDoesNotListIsNoticed() throws Exception {
        totals = totals.substring(0, totals.indexOf("\\n") + 2);
        assertThat(checks(1)).contains("FAILED: [indices]");
    }

    @Test
    void anotherTotalIsNoticed() throws Exception {
        totals = totals.replaceFirst("23028", "23031");
        assertThat(checks(1)).contains("FAILED: [total of " + FakeNvml.uuid(0) + " in MiB]");
    }

    @Test
    void figuresThatDoNotAddUpAreNoticed() throws Exception {
        nvml.with("device.1.memory", "24146608128,541917184,1,23604690944");
        assertThat(checks(1)).contains("FAILED: [" + FakeNvml.uuid(1) + "]");
    }

    @Test
    void aContextThatCostsNothingIsNoticed() throws Exception {
        cuda.put("FAKE_CUDA_CONTEXT", "0");
        assertThat(checks(1)).contains("FAILED: [context: use of this process with a context]");
    }

    @Test
    void anAmountThatIsReadThreePercentTooHighIsNoticed() throws Exception {
        cuda.put("FAKE_CUDA_ALLOCATION_PERCENT", "103");
        assertThat(checks(1)).contains("FAILED: [1.0 GiB read as 1.0 GiB, by the use of this process with a context]");
        cuda.put("FAKE_CUDA_ALLOCATION_PERCENT", "102");
        assertThat(checks(0)).contains("known=1.0 GiB");
    }
}
