package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ullage.worker.probe.ProbeUnavailableException.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NvmlUnavailableTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void aMissingLibraryIsNamedWithWhatToDo() {
        ProbeUnavailableException e = open("libullage-no-such-nvml.so.1");
        assertThat(e.reason()).isEqualTo(Reason.LIBRARY_NOT_FOUND);
        assertThat(e)
                .hasMessage(
                        "NVML library 'libullage-no-such-nvml.so.1' was not found: install the NVIDIA driver, or make"
                                + " the driver's libraries visible in this container, or set nvml-library to its path");
    }

    @Test
    void aMissingPathIsALibraryNotFound() {
        assertThat(open(folder.resolve("libnvidia-ml.so.1").toString()).reason())
                .isEqualTo(Reason.LIBRARY_NOT_FOUND);
    }

    @Test
    void aFileThatIsNoLibraryIsNotMistakenForAMissingOne() throws Exception {
        Path file = Files.writeString(folder.resolve("libnvidia-ml.so.1"), "not a library");
        ProbeUnavailableException e = open(file.toString());
        assertThat(e.reason()).isEqualTo(Reason.LIBRARY_NOT_LOADABLE);
        assertThat(e).hasMessageContaining("NVML library '" + file + "' cannot be loaded: ");
        assertThat(String.valueOf(e.getMessage()).lines()).hasSize(1);
    }

    // The loader says of one for another processor that there is no such file.
    @Test
    void aLibraryForAnotherProcessorIsNotSaidToBeMissing() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder);
        byte[] elf = Files.readAllBytes(Path.of(nvml.path()));
        int machine = 18;
        elf[machine] = 0x15;
        Path file = Files.write(folder.resolve("libother.so.1"), elf);
        ProbeUnavailableException e = open(file.toString());
        assertThat(e.reason()).isEqualTo(Reason.LIBRARY_NOT_LOADABLE);
        assertThat(e)
                .hasMessageStartingWith("NVML library '" + file + "' cannot be loaded: ")
                .hasMessageNotContaining("was not found");
    }

    @Test
    void aLibraryThatIsNotNvmlIsSaidToBeNone() {
        ProbeUnavailableException e = open("libc.so.6");
        assertThat(e.reason()).isEqualTo(Reason.LIBRARY_NOT_LOADABLE);
        assertThat(e.fact())
                .isEqualTo("'libc.so.6' is not NVML, or is older than Ullage can use"
                        + " [nvmlInit_v2: FUNCTION_NOT_FOUND (13, this driver's library does not have the call)]");
        assertThat(e.remedy().orElseThrow()).contains("set nvml-library to the driver's libnvidia-ml.so.1");
        assertThat(e).hasMessage(e.fact() + ": " + e.remedy().orElseThrow());
    }

    @ParameterizedTest
    @CsvSource({
        "9, DRIVER_NOT_LOADED, module is not loaded, 'nvmlInit_v2: DRIVER_NOT_LOADED (9, Driver Not Loaded)', load it",
        "18, VERSION_MISMATCH, different versions, 'nvmlInit_v2: LIB_RM_VERSION_MISMATCH (18, ', restart the host",
        "4, NO_PERMISSION, /dev/nvidia*, 'nvmlInit_v2: NO_PERMISSION (4, Some Error)', ls -l /dev/nvidia*",
        "999, NVML_FAILED, does not start, 'nvmlInit_v2: UNKNOWN (999, Some Error)', dmesg | grep NVRM",
        "77, NVML_FAILED, does not start, 'nvmlInit_v2: UNLISTED (77, Some Error)', dmesg | grep NVRM",
    })
    void whatNvmlAnswersAtTheStartBecomesAReason(int code, Reason reason, String words, String answer, String remedy) {
        FakeNvml nvml = FakeNvml.compile(folder).with("rc.nvmlInit_v2", code);
        ProbeUnavailableException e = open(nvml.path());
        assertThat(e.reason()).isEqualTo(reason);
        assertThat(e.fact()).contains(words, answer).doesNotContain(remedy);
        assertThat(e.remedy().orElseThrow()).contains(remedy);
    }

    @Test
    void aProbeThatCannotCountItsDevicesLetsGoOfTheDriver() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).with("rc.nvmlDeviceGetCount_v2", 999);
        assertThat(open(nvml.path()).reason()).isEqualTo(Reason.NVML_FAILED);
        assertThat(nvml.calls("nvmlShutdown")).isEqualTo(1);
    }

    @Test
    void aDriverWithoutDevicesIsAProbeWithoutDevices() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(0);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.devices()).isEmpty();
            assertThat(probe.problems()).isEmpty();
        }
    }

    private static ProbeUnavailableException open(String library) {
        return catchThrowableOfType(ProbeUnavailableException.class, () -> NvmlProbe.open(library));
    }
}
