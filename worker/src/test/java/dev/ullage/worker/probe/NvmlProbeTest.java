package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Goal: the binding reads what a driver writes. Method: a C library with NVML's interface that answers from a script.
 */
class NvmlProbeTest {
    private static final DeviceId FIRST = new DeviceId(FakeNvml.uuid(0));
    private static final String UNTOLD =
            "the driver does not tell the memory of 1 of 1 process, as under WDDM and WSL; it is unknown";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void aDeviceHasItsUuidNameAndBusId() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(2);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.devices())
                    .containsExactly(
                            new DeviceInfo(
                                    FIRST, 0, "NVIDIA A10", DeviceKind.DISCRETE, Optional.of("00000000:00:00.0")),
                            new DeviceInfo(
                                    new DeviceId(FakeNvml.uuid(1)),
                                    1,
                                    "NVIDIA A10",
                                    DeviceKind.DISCRETE,
                                    Optional.of("00000000:01:00.0")));
            assertThat(probe.problems()).isEmpty();
            assertThat(probe.description()).isEqualTo("NVML, driver 550.54.15");
        }
    }

    /** Case C05. */
    @Test
    void whatTheDriverReservesIsNotAllocatable() throws Exception {
        JsonNode a10 = caseC05();
        JsonNode v2 = a10.get("v2");
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(1)
                .with(
                        "device.0.memory",
                        "%s,%s,%s,%s".formatted(v2.get("total"), v2.get("reserved"), v2.get("used"), v2.get("free")));
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            DeviceReading reading = probe.read(FIRST);
            MemoryUse memory = reading.memory().orElseThrow();
            assertThat(memory.allocatable().value())
                    .isEqualTo(a10.get("expect_allocatable_bytes").asLong())
                    .isEqualTo(23604690944L);
            assertThat(memory.allocatable().dividedBy(2).value() / MemoryBytes.MEBIBYTE)
                    .isEqualTo(a10.get("two_equal_shares_mib_max").asLong());
            assertThat(memory.used()).isEqualTo(MemoryBytes.ZERO);
            assertThat(memory.reserved()).contains(MemoryBytes.of(541917184));
            assertThat(memory.used().plus(memory.free()).plus(memory.reserved().orElseThrow()))
                    .isEqualTo(memory.total());
            assertThat(reading.processes()).contains(List.of());
            assertThat(reading.problems()).isEmpty();
        }
    }

    private static JsonNode caseC05() throws IOException {
        try (InputStream json = NvmlProbeTest.class.getResourceAsStream("/cases/C05/reserved.json")) {
            return new ObjectMapper().readTree(Objects.requireNonNull(json)).get(0);
        }
    }

    @Test
    void withoutMemoryVersion2TheReserveIsUnknownAndVersion2IsNotAskedAgain() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(2)
                .with("rc.nvmlDeviceGetMemoryInfo_v2", NvmlReturn.ARGUMENT_VERSION_MISMATCH.code());
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            long atTheStart = nvml.calls("nvmlDeviceGetMemoryInfo_v2");
            for (DeviceInfo device : probe.devices()) {
                DeviceReading reading = probe.read(device.id());
                assertThat(reading.memory())
                        .contains(new MemoryUse(
                                MemoryBytes.of(24146608128L),
                                Optional.empty(),
                                MemoryBytes.of(541917184),
                                MemoryBytes.of(23604690944L)));
                assertThat(reading.problems())
                        .containsExactly("nvmlDeviceGetMemoryInfo_v2: ARGUMENT_VERSION_MISMATCH (25, Some Error);"
                                + " read with version 1: what the driver reserves is unknown and counts as used");
            }
            assertThat(nvml.calls("nvmlDeviceGetMemoryInfo_v2")).isEqualTo(atTheStart);
        }
    }

    @Test
    void anOlderLibraryWithoutTheNewestCallsIsReadWithItsOlderOnes() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder, "-DWITHOUT_MEMORY_V2", "-DWITHOUT_PROCESSES_V3")
                .withDevices(1)
                .with("device.0.compute", "4711:1048576");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            DeviceReading reading = probe.read(FIRST);
            assertThat(reading.memory().orElseThrow().reserved()).isEmpty();
            assertThat(reading.processes()).contains(List.of(process(4711, 1048576)));
            assertThat(nvml.calls("nvmlDeviceGetComputeRunningProcesses_v2")).isEqualTo(1);
        }
    }

    @Test
    void theOldestProcessCallsHaveASmallerStructureAndAreRememberedOnceFound() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder, "-DWITHOUT_PROCESSES_V3", "-DWITHOUT_PROCESSES_V2")
                .withDevices(1)
                .with("device.0.compute", "4711:1048576,4712:na")
                .with("device.0.graphics", "4713:2097152");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            for (int round = 0; round < 3; round++) {
                assertThat(probe.read(FIRST).processes())
                        .contains(List.of(
                                process(4711, 1048576),
                                new ProcessUse(4712, Optional.empty()),
                                process(4713, 2097152)));
            }
            assertThat(nvml.calls("nvmlDeviceGetComputeRunningProcesses")).isEqualTo(3);
        }
    }

    @Test
    void aVersion2FailureOfOneDeviceIsNotHeldAgainstTheLibrary() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(2)
                .with("device.0.rc.nvmlDeviceGetMemoryInfo_v2", NvmlReturn.UNKNOWN.code());
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.read(FIRST).memory().orElseThrow().reserved()).isEmpty();
            assertThat(probe.read(new DeviceId(FakeNvml.uuid(1)))
                            .memory()
                            .orElseThrow()
                            .reserved())
                    .isPresent();
        }
    }

    @Test
    void memoryThatNeitherVersionKnowsIsUnknownAndNotZero() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(1)
                .with("rc.nvmlDeviceGetMemoryInfo_v2", NvmlReturn.NOT_SUPPORTED.code())
                .with("rc.nvmlDeviceGetMemoryInfo", NvmlReturn.NOT_SUPPORTED.code())
                .with("device.0.compute", "4711:na");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            DeviceReading reading = probe.read(FIRST);
            assertThat(probe.devices()).extracting(DeviceInfo::kind).containsExactly(DeviceKind.DISCRETE);
            assertThat(reading.memory()).isEmpty();
            assertThat(reading.processes()).contains(List.of(new ProcessUse(4711, Optional.empty())));
            assertThat(reading.problems())
                    .containsExactly(
                            "nvmlDeviceGetMemoryInfo_v2: NOT_SUPPORTED (3, Not Supported),"
                                    + " nvmlDeviceGetMemoryInfo: NOT_SUPPORTED (3, Not Supported); memory is unknown",
                            UNTOLD);
        }
    }

    @Test
    void aLostDeviceInTheMiddleNeitherHidesNorRenumbersTheOthers() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(4)
                .with("device.1.rc.nvmlDeviceGetHandleByIndex_v2", NvmlReturn.GPU_IS_LOST.code())
                .with("device.2.rc.nvmlDeviceGetUUID", NvmlReturn.UNKNOWN.code());
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.devices()).extracting(DeviceInfo::index).containsExactly(0, 3);
            assertThat(probe.devices().get(1).id().value()).isEqualTo(FakeNvml.uuid(3));
            assertThat(probe.problems())
                    .extracting(DeviceProblem::toString)
                    .containsExactly(
                            "device 1: nvmlDeviceGetHandleByIndex_v2: GPU_IS_LOST (15, GPU is lost);"
                                    + " the device is left out",
                            "device 2: nvmlDeviceGetUUID: UNKNOWN (999, Some Error);"
                                    + " a device without a UUID is left out");
        }
    }

    @Test
    void aDeviceThatIsLostLaterGivesReadingsThatSaySo() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(2);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            int lost = NvmlReturn.GPU_IS_LOST.code();
            nvml.with("device.0.rc.nvmlDeviceGetMemoryInfo_v2", lost)
                    .with("device.0.rc.nvmlDeviceGetMigMode", lost)
                    .with("device.0.rc.nvmlDeviceGetComputeRunningProcesses_v3", lost);
            DeviceReading reading = probe.read(FIRST);
            assertThat(reading.memory()).isEmpty();
            assertThat(reading.processes()).isEmpty();
            assertThat(reading.problems())
                    .containsExactly(
                            "nvmlDeviceGetMigMode: GPU_IS_LOST (15, GPU is lost);"
                                    + " whether the device is in MIG mode is unknown",
                            "nvmlDeviceGetMemoryInfo_v2: GPU_IS_LOST (15, GPU is lost); memory is unknown",
                            "nvmlDeviceGetComputeRunningProcesses_v3: GPU_IS_LOST (15, GPU is lost);"
                                    + " processes are unknown");
            assertThat(probe.read(new DeviceId(FakeNvml.uuid(1))).problems()).isEmpty();
        }
    }

    @Test
    void aDeviceInMigModeIsNotAllocatedOnItself() throws Exception {
        FakeNvml nvml =
                FakeNvml.compile(folder).withDevices(2).with("device.0.mig", 1).with("device.1.mig", 0);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.devices()).extracting(DeviceInfo::index).containsExactly(1);
            assertThat(probe.problems())
                    .containsExactly(new DeviceProblem(0, Optional.of(FIRST), false, NvmlDevices.IN_MIG_MODE));

            nvml.with("device.1.mig", 1);
            DeviceReading later = probe.read(new DeviceId(FakeNvml.uuid(1)));
            assertThat(later.memory()).isEmpty();
            assertThat(later.problems()).containsExactly(NvmlDevices.IN_MIG_MODE);
        }
    }

    @Test
    void aProcessListThatOutgrowsItsRoomIsReadWholeAndTheRoomIsKept() throws Exception {
        String many = IntStream.rangeClosed(1001, 1200)
                .mapToObj(pid -> pid + ":" + pid * 1024L)
                .collect(Collectors.joining(","));
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(1)
                .with("device.0.compute", many)
                // What it says first is no longer enough when it is asked again: more have started meanwhile.
                .with("device.0.compute.sizing", 140);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            // Each thread has room of its own, so that of a new one is as it is at the start.
            List<DeviceReading> readings = CompletableFuture.supplyAsync(
                            () -> List.of(probe.read(FIRST), probe.read(FIRST)), task -> new Thread(task).start())
                    .join();
            for (DeviceReading reading : readings) {
                assertThat(reading.processes().orElseThrow())
                        .hasSize(200)
                        .startsWith(process(1001, 1001 * 1024))
                        .endsWith(process(1200, 1200 * 1024));
            }
            assertThat(nvml.calls("nvmlDeviceGetComputeRunningProcesses_v3")).isEqualTo(3 + 1);
        }
    }

    @Test
    void whatOneDeviceAnsweredIsNotReadAgainAsAnothersAnswer() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(2)
                .with("device.0.compute", "1001:1024,1002:2048,1003:4096")
                .with("device.1.compute", "2001:1024");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.read(FIRST).processes().orElseThrow()).hasSize(3);
            assertThat(probe.read(new DeviceId(FakeNvml.uuid(1))).processes().orElseThrow())
                    .containsExactly(process(2001, 1024));
        }
    }

    @Test
    void aProcessListThatNeverFitsIsUnknownAfterABoundedNumberOfTries() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(1)
                .with("rc.nvmlDeviceGetComputeRunningProcesses_v3", NvmlReturn.INSUFFICIENT_SIZE.code());
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            DeviceReading reading = probe.read(FIRST);
            assertThat(reading.processes()).isEmpty();
            assertThat(reading.problems())
                    .containsExactly("nvmlDeviceGetComputeRunningProcesses_v3: INSUFFICIENT_SIZE (7, Some Error);"
                            + " processes are unknown");
            assertThat(nvml.calls("nvmlDeviceGetComputeRunningProcesses_v3")).isEqualTo(5);
        }
    }

    @Test
    void computeAndGraphicsProcessesAreOneListByPid() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(1)
                .with("device.0.compute", "300:3000,100:1000,200:na")
                .with("device.0.graphics", "100:1000,400:na,200:2000");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.read(FIRST).processes())
                    .contains(List.of(
                            process(100, 1000),
                            process(200, 2000),
                            process(300, 3000),
                            new ProcessUse(400, Optional.empty())));
        }
    }

    @Test
    void aDeviceWithoutGraphicsStillHasComputeProcesses() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(1)
                .with("device.0.compute", "100:1000")
                .with("rc.nvmlDeviceGetGraphicsRunningProcesses_v3", NvmlReturn.NOT_SUPPORTED.code());
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.read(FIRST).processes()).contains(List.of(process(100, 1000)));
        }
    }

    /** The pids of case A05: an older structure read against a newer driver. */
    @Test
    void aListWithImpossiblePidsIsNotTrustedAndTheTotalsAre() throws Exception {
        for (String garbage : List.of("0", "4294967295")) {
            FakeNvml nvml = FakeNvml.compile(Files.createDirectory(folder.resolve(garbage)))
                    .withDevices(1)
                    .with("device.0.compute", "1184:1000," + garbage + ":2000,16040:na");
            try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
                DeviceReading reading = probe.read(FIRST);
                assertThat(reading.processes()).isEmpty();
                assertThat(reading.memory()).isPresent();
                assertThat(reading.problems())
                        .containsExactly("the driver's process list has the pid " + garbage
                                + ", so it is not trusted; processes are unknown");
            }
        }
    }

    @Test
    void aNameThatCannotBeHadDoesNotCostTheDevice() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(1)
                .with("rc.nvmlDeviceGetName", NvmlReturn.UNKNOWN.code())
                .with("rc.nvmlDeviceGetPciInfo_v3", NvmlReturn.NOT_SUPPORTED.code());
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.devices())
                    .containsExactly(
                            new DeviceInfo(FIRST, 0, "unknown NVIDIA device", DeviceKind.DISCRETE, Optional.empty()));
            assertThat(probe.problems())
                    .containsExactly(new DeviceProblem(
                            0,
                            Optional.of(FIRST),
                            true,
                            "nvmlDeviceGetName: UNKNOWN (999, Some Error); its name is unknown"));
        }
    }

    @Test
    void aClosedOrUnknownDeviceGivesAnEmptyReading() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(1);
        NvmlProbe probe = NvmlProbe.open(nvml.path());
        assertThat(probe.read(new DeviceId("GPU-other")).problems())
                .containsExactly("device GPU-other is not one of this probe's devices");
        probe.close();
        probe.close();
        assertThat(nvml.calls("nvmlShutdown")).isEqualTo(1);
        assertThat(probe.read(FIRST).problems()).containsExactly("the probe is closed");
    }

    private static ProcessUse process(long pid, long bytes) {
        return new ProcessUse(pid, Optional.of(MemoryBytes.of(bytes)));
    }
}
