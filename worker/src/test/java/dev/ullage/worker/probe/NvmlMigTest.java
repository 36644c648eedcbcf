package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MigSlice;
import dev.ullage.worker.probe.NvmlCalls.RawAttributes;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** MIG instances are devices; the card they are cut from is none. */
class NvmlMigTest {
    private static final DeviceId CARD = new DeviceId(FakeNvml.uuid(0));
    private static final DeviceId SMALL = new DeviceId("MIG-0b0b0b0b-0000-5000-9000-000000000001");
    private static final DeviceId LARGE = new DeviceId("MIG-0b0b0b0b-0000-5000-9000-000000000002");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static FakeNvml slice(FakeNvml nvml, int place, DeviceId id, int gpuInstance, String memory) {
        String device = "device.0.mig" + place + ".";
        return nvml.with(device + "uuid", id)
                .with(device + "name", "NVIDIA A100-SXM4-40GB MIG " + (place + 1) + "g.5gb")
                .with(device + "gi", gpuInstance)
                .with(device + "ci", 0)
                .with(device + "memory", memory);
    }

    /** Card 0 in two instances with a gap between their places, card 1 whole. */
    private FakeNvml cut() {
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(2)
                .with("device.0.mig", 1)
                .with("device.0.migmax", 7)
                .with("device.1.mig", 0);
        slice(nvml, 0, SMALL, 9, "5000000000,10,90,4999999900");
        return slice(nvml, 2, LARGE, 5, "10000000000,10,90,9999999900");
    }

    @Test
    void instancesAreDevicesWithTheirOwnUuidAndTheCardIsNone() throws Exception {
        try (NvmlProbe probe = NvmlProbe.open(cut().path())) {
            assertThat(probe.devices())
                    .extracting(DeviceInfo::id)
                    .containsExactly(SMALL, LARGE, new DeviceId(FakeNvml.uuid(1)));
            assertThat(probe.devices().get(1))
                    .isEqualTo(new DeviceInfo(
                            LARGE,
                            0,
                            "NVIDIA A100-SXM4-40GB MIG 3g.5gb",
                            DeviceKind.MIG,
                            Optional.of("00000000:00:00.0"),
                            Optional.of(
                                    new MigSlice(CARD, OptionalInt.of(5), OptionalInt.of(0), Optional.of("3g.5gb")))));
            assertThat(probe.problems())
                    .containsExactly(new DeviceProblem(0, Optional.of(CARD), false, NvmlDevices.IN_MIG_MODE));
        }
    }

    @Test
    void capacityIsThatOfTheSliceAndNeverOfTheCard() throws Exception {
        try (NvmlProbe probe = NvmlProbe.open(cut().path())) {
            assertThat(probe.read(SMALL).memory().orElseThrow().allocatable()).isEqualTo(MemoryBytes.of(4999999990L));
            assertThat(probe.read(LARGE).memory().orElseThrow().total()).isEqualTo(MemoryBytes.of(10000000000L));
            assertThat(probe.read(CARD).memory()).isEmpty();
        }
    }

    @Test
    void processesAreThoseOfTheSliceAlsoWhereOnlyTheCardListsThem() throws Exception {
        FakeNvml nvml = cut().with("device.0.mig0.compute", "100:1000:9,101:1001:5,102:1002")
                .with("device.0.mig2.rc.nvmlDeviceGetComputeRunningProcesses_v3", NvmlReturn.NOT_SUPPORTED.code())
                .with("device.0.compute", "200:2000:9,201:2001:5");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.read(SMALL).processes().orElseThrow())
                    .extracting(ProcessUse::pid)
                    .containsExactly(100L, 102L);
            assertThat(probe.read(LARGE).processes().orElseThrow())
                    .extracting(ProcessUse::pid)
                    .containsExactly(201L);
        }
    }

    @Test
    void aLayoutThatChangesIsNoticedByTheNextLook() throws Exception {
        FakeNvml nvml = cut();
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            nvml.without("device.0.mig0.uuid");
            slice(nvml, 1, new DeviceId("MIG-new"), 7, "5000000000,0,0,5000000000");

            assertThat(probe.rescan())
                    .extracting(device -> device.id().value())
                    .containsExactly("MIG-new", LARGE.value(), FakeNvml.uuid(1));
            assertThat(probe.read(SMALL))
                    .isEqualTo(new DeviceReading(
                            Optional.empty(),
                            Optional.empty(),
                            List.of("device " + SMALL + " is no longer listed: " + NvmlDevices.NO_INSTANCE_NOW)));

            nvml.with("device.0.mig", 0);
            assertThat(probe.rescan()).extracting(DeviceInfo::id).containsExactly(CARD, new DeviceId(FakeNvml.uuid(1)));
            nvml.with("device.0.mig", 1).with("device.1.mig", 1).with("device.1.migmax", 7);
            assertThat(probe.rescan()).hasSize(2).allMatch(device -> device.kind() == DeviceKind.MIG);
            assertThat(probe.read(CARD).problems())
                    .containsExactly("device " + CARD + " is no longer listed: " + NvmlDevices.IN_MIG_MODE);
        }
    }

    @Test
    void whatCanHoldNothingAnyMoreIsToldFromWhatIsOnlySilent() throws Exception {
        FakeNvml nvml = cut();
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.retired(SMALL)).isEmpty();
            assertThat(probe.retired(new DeviceId("MIG-never"))).isEmpty();

            // It may be the one that cannot be asked.
            nvml.with("device.0.rc.nvmlDeviceGetMigDeviceHandleByIndex", NvmlReturn.UNKNOWN.code());
            probe.rescan();
            assertThat(probe.retired(SMALL)).isEmpty();
            nvml.without("device.0.rc.nvmlDeviceGetMigDeviceHandleByIndex").without("device.0.mig0.uuid");
            probe.rescan();
            assertThat(probe.retired(SMALL)).contains(NvmlDevices.NO_INSTANCE_NOW);
            assertThat(probe.retired(LARGE)).isEmpty();

            nvml.with("device.0.mig", 0);
            probe.rescan();
            assertThat(probe.retired(LARGE)).contains(NvmlDevices.NO_INSTANCE_NOW);
            nvml.with("device.0.mig", 1)
                    .with("device.1.rc.nvmlDeviceGetHandleByIndex_v2", NvmlReturn.GPU_IS_LOST.code());
            probe.rescan();
            assertThat(probe.retired(CARD)).contains(NvmlDevices.IN_MIG_MODE);
            assertThat(probe.retired(new DeviceId(FakeNvml.uuid(1)))).isEmpty();

            nvml.with("device.0.rc.nvmlDeviceGetHandleByIndex_v2", NvmlReturn.GPU_IS_LOST.code());
            probe.rescan();
            assertThat(probe.retired(LARGE)).isEmpty();
        }
    }

    @Test
    void computeInstancesThatShareOneMemoryAreNotPromisedIt() throws Exception {
        FakeNvml nvml = cut().with("device.0.mig2.gi", 9);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            DeviceReading reading = probe.read(LARGE);

            assertThat(reading.memory()).isEmpty();
            assertThat(reading.processes()).isPresent();
            assertThat(reading.problems())
                    .containsExactly("2 compute instances share the memory of one GPU instance, so none of it can be"
                            + " promised to one of them; memory is unknown. Give each a GPU instance of its own");
        }
    }

    // Case A02: in a container with one slice the card's memory may not be read; the slice's may.
    @Test
    void aCardThatMayNotBeReadLeadsToItsSlice() throws Exception {
        JsonNode calls = Cases.json("A02/nvml.json").path("calls");
        JsonNode slice = StreamSupport.stream(calls.spliterator(), false)
                .filter(call -> call.path("fn").asText().equals("nvmlDeviceGetMemoryInfo(mig0)"))
                .findFirst()
                .orElseThrow();
        for (boolean isModeTold : List.of(true, false)) {
            FakeNvml nvml = FakeNvml.compile(java.nio.file.Files.createDirectory(folder.resolve("told-" + isModeTold)))
                    .withDevices(1)
                    .with("device.0.uuid", "GPU-0a0a0a0a-0000-4000-8000-0000000000a2")
                    .with("device.0.migmax", 7)
                    .with("device.0.rc.nvmlDeviceGetMemoryInfo_v2", NvmlReturn.NO_PERMISSION.code())
                    .with("device.0.rc.nvmlDeviceGetMemoryInfo", NvmlReturn.NO_PERMISSION.code())
                    .with("device.0.mig0.uuid", "MIG-0b0b0b0b-0000-5000-9000-0000000000a2")
                    .with("device.0.mig0.name", "NVIDIA H100 80GB HBM3 MIG 2g.20gb")
                    .with("device.0.mig0.gi", 3)
                    .with("device.0.mig0.ci", 0)
                    .with(
                            "device.0.mig0.memory",
                            "%s,0,%s,%s".formatted(slice.get("total"), slice.get("used"), slice.get("free")));
            if (isModeTold) {
                nvml.with("device.0.mig", 1);
            } else {
                nvml.with("device.0.rc.nvmlDeviceGetMigMode", NvmlReturn.NO_PERMISSION.code());
            }
            try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
                DeviceInfo device = probe.devices().get(0);
                DeviceReading reading = probe.read(device.id());

                assertThat(probe.devices()).hasSize(1);
                assertThat(device.id().value()).isEqualTo("MIG-0b0b0b0b-0000-5000-9000-0000000000a2");
                assertThat(device.mig().orElseThrow().profile()).contains("2g.20gb");
                assertThat(reading.memory().orElseThrow().total().value()).isEqualTo(19968L * MemoryBytes.MEBIBYTE);
                assertThat(reading.memory().orElseThrow().used().value())
                        .isEqualTo(slice.get("used").asLong());
                assertThat(probe.problems()).extracting(DeviceProblem::usable).containsExactly(false);
            }
        }
    }

    @Test
    void aProfileIsReadFromTheNameOrWorkedOutFromTheSizes() {
        MemoryBytes a100 = MemoryBytes.of(42949672960L);
        MemoryBytes h100 = MemoryBytes.ofMebibytes(81559);

        assertThat(MigProfile.inName("NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb")).contains("1c.3g.20gb");
        assertThat(MigProfile.inName("NVIDIA H100 80GB HBM3 MIG 1g.10gb+me")).contains("1g.10gb+me");
        assertThat(MigProfile.inName("NVIDIA A100-SXM4-40GB")).isEmpty();
        assertThat(MigProfile.of(new RawAttributes(1, 1, 4864), a100)).contains("1g.5gb");
        assertThat(MigProfile.of(new RawAttributes(3, 3, 19968), a100)).contains("3g.20gb");
        assertThat(MigProfile.of(new RawAttributes(3, 1, 19968), a100)).contains("1c.3g.20gb");
        assertThat(MigProfile.of(new RawAttributes(7, 7, 40192), a100)).contains("7g.40gb");
        assertThat(MigProfile.of(new RawAttributes(1, 1, 9984), h100)).contains("1g.10gb");
        assertThat(MigProfile.of(new RawAttributes(4, 4, 40448), h100)).contains("4g.40gb");
        assertThat(MigProfile.of(new RawAttributes(0, 0, 0), a100)).isEmpty();
        assertThat(MigProfile.of(new RawAttributes(1, 1, 99999), a100)).isEmpty();
    }

    @Test
    void withoutAProfileInTheNameTheSizesOfTheSliceDecide() throws Exception {
        FakeNvml nvml = cut().with("device.0.mig0.name", "NVIDIA A100-SXM4-40GB")
                .with("device.0.memory", "42949672960,0,0,42949672960")
                .with("device.0.mig0.slices", "1,1,4864");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.devices().get(0).mig().orElseThrow().profile()).contains("1g.5gb");
        }
    }
}
