package dev.ullage.worker.probe;

import static dev.ullage.common.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.worker.testing.LogWatch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A driver in which a call for one device does not come back, and the Xid errors that often go before that. */
class NvmlHangTest {
    private static final String LOOK = "device.1.rc.nvmlDeviceGetUUID";
    private static final NvmlHost IMPATIENT =
            new NvmlHost(Optional::empty, CudaFacts.none("no CUDA"), Duration.ofMillis(300));
    private static final NvmlHost PATIENT =
            new NvmlHost(Optional::empty, CudaFacts.none("no CUDA"), Duration.ofSeconds(10));

    @RegisterExtension
    final LogWatch log = new LogWatch();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void aDeviceThatDoesNotAnswerNeitherHidesNorRenumbersTheOthersAndIsFoundLater() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(3).with(LOOK, "hang");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), IMPATIENT)) {
            assertThat(probe.devices()).extracting(DeviceInfo::index).containsExactly(0, 2);
            assertThat(probe.problems())
                    .extracting(DeviceProblem::toString)
                    .containsExactly(
                            "device 1: the driver does not answer when asked for this device; the look at it is"
                                    + " left waiting");
            probe.rescan();
            probe.rescan();
            assertThat(Thread.getAllStackTraces().keySet())
                    .filteredOn(thread -> thread.getName().equals("probe-look-1"))
                    .hasSize(1);

            nvml.without(LOOK);

            eventually("it is found", () -> probe.rescan().size() == 3);
            assertThat(probe.devices()).extracting(DeviceInfo::index).containsExactly(0, 1, 2);
        }
    }

    @Test
    void aDeviceThatStopsAnsweringStaysListed() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(3);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), IMPATIENT)) {
            eventually("all answer", () -> probe.rescan().size() == 3);
            nvml.with(LOOK, "hang");

            assertThat(probe.rescan()).extracting(DeviceInfo::index).containsExactly(0, 1, 2);
            nvml.without(LOOK);
        }
    }

    @Test
    void aCriticalXidMarksTheReadingsOfItsCardAndOfNoOther() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(2).with("event", "0:0:0");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), PATIENT)) {
            DeviceId second = new DeviceId(FakeNvml.uuid(1));
            nvml.with("event", "1:1:31");
            eventually("a program's fault is told", () -> log.warnings().stream()
                    .anyMatch(warning -> warning.contains("xid=31")));
            assertThat(probe.read(second).problems()).isEmpty();

            nvml.with("event", "2:1:79");

            eventually(
                    "the reading says so", () -> !probe.read(second).problems().isEmpty());
            assertThat(probe.read(second).problems())
                    .containsExactly(
                            "Xid 79 was reported since the worker started: the card may need a reset, see dmesg");
            assertThat(probe.read(second).memory()).isPresent();
            assertThat(probe.read(new DeviceId(FakeNvml.uuid(0))).problems()).isEmpty();
        }
        assertThat(nvml.calls("nvmlEventSetFree")).isEqualTo(1);
    }

    @Test
    void aDriverWithoutEventsIsNotAskedForThem() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(1);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), PATIENT)) {
            assertThat(probe.devices()).hasSize(1);
            assertThat(nvml.calls("nvmlDeviceRegisterEvents")).isZero();
        }
    }
}
