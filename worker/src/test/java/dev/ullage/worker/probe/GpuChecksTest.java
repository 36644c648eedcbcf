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
        cuda.put("FAKE_CUDA_SCRIPT", nvml.script().toString());
        nvml.with("cuda.order", "01").with("cuda.context", 512 * MIB);
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
                .contains("pass\tcards, as nvidia-smi lists them\t2 cards\n")
                .contains("pass\ttotals, as nvidia-smi prints them\t2 compared\n")
                .contains("pass\tused + free + reserved = total\t2 readings, to the byte\n")
                .contains("pass\tCUDA's total of " + FakeNvml.uuid(1) + "\t22.5 GiB\n")
                .contains("pass\ta context on " + FakeNvml.uuid(1) + "\t512.0 MiB\n")
                .contains("pass\t1 GiB on " + FakeNvml.uuid(1) + "\t1073741824 bytes read of 1073741824\n")
                .doesNotContain("FAIL", "skip");
    }

    @Test
    void aDeviceThatTheToolDoesNotListIsNoticed() throws Exception {
        totals = totals.substring(0, totals.indexOf("\\n") + 2);
        assertThat(checks(1)).contains("FAIL\tcards, as nvidia-smi lists them\t[indices]");
    }

    @Test
    void anotherTotalIsNoticed() throws Exception {
        totals = totals.replaceFirst("23028", "23031");
        assertThat(checks(1))
                .contains("FAIL\ttotals, as nvidia-smi prints them\t[total of " + FakeNvml.uuid(0) + " in MiB]");
    }

    @Test
    void figuresThatDoNotAddUpAreNoticed() throws Exception {
        nvml.with("device.1.memory", "24146608128,541917184,1,23604690944");
        assertThat(checks(1)).contains("FAIL\tused + free + reserved = total\t[" + FakeNvml.uuid(1) + "]");
    }

    @Test
    void aTotalOfCudasThatIsMoreThanThereIsIsNoticed() throws Exception {
        nvml.with("cuda.total", 24146608129L);
        assertThat(checks(1)).contains("FAIL\tCUDA's total of " + FakeNvml.uuid(0) + "\t[CUDA's total]");
    }

    @Test
    void withoutADriverAllOfThemAreSkippedWithTheReason() throws Exception {
        nvml.with("rc.nvmlInit_v2", NvmlReturn.DRIVER_NOT_LOADED.code());
        assertThat(checks(0)).startsWith("skip\tall checks\tthe NVIDIA kernel module is not loaded");
    }

    @Test
    void aContextThatCostsNothingIsNoticed() throws Exception {
        nvml.with("cuda.context", 0);
        assertThat(checks(1))
                .contains("FAIL\ta context on " + FakeNvml.uuid(0) + "\t[context: use of this process with a context]");
    }

    @Test
    void anAmountThatIsReadThreePercentTooHighIsNoticed() throws Exception {
        nvml.with("cuda.percent", 103);
        assertThat(checks(1)).contains("[1.0 GiB read as 1.0 GiB, by the use of this process with a context]");
        nvml.with("cuda.percent", 102);
        assertThat(checks(0)).contains("\t1095216660 bytes read of 1073741824");
    }
}
