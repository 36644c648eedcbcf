package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hosts full of the GPUs people have: each card is listed and read to the byte. (GB10: {@link UnifiedMemoryTest}.) */
class NvmlProfilesTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static FakeProfile profile(String name) throws IOException {
        return name.equals("h200") ? FakeProfile.h200() : FakeProfile.of(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a100", "h100", "h200", "b200", "gb200", "l40s", "t4"})
    void everyCardIsListedInOrderAndReadToTheByte(String name) throws Exception {
        FakeProfile profile = profile(name);
        FakeNvml nvml = profile.applyTo(FakeNvml.compile(folder));
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            assertThat(probe.description()).isEqualTo("NVML, driver " + profile.driver());
            assertThat(probe.problems()).isEmpty();
            assertThat(probe.devices())
                    .hasSizeGreaterThanOrEqualTo(4)
                    .allMatch(device -> device.kind() == DeviceKind.DISCRETE)
                    .allMatch(device -> device.name().equals(profile.name()))
                    .extracting(device -> device.id().value())
                    .containsExactlyElementsOf(
                            profile.cards().stream().map(FakeProfile.Card::uuid).toList());
            for (DeviceInfo device : probe.devices()) {
                DeviceReading reading = probe.read(device.id());
                MemoryUse memory = reading.memory().orElseThrow();
                assertThat(reading.problems()).isEmpty();
                assertThat(memory.allocatable().value()).isEqualTo(profile.total() - profile.reserved());
                assertThat(sum(memory)).isEqualTo(memory.total());
            }
        }
    }

    private static MemoryBytes sum(MemoryUse memory) {
        return memory.used().plus(memory.free()).plus(memory.reserved().orElse(MemoryBytes.ZERO));
    }

    // A100 40 GB in MIG mode: seven slices of 4864 MiB are less than the card, and what is missing is nobody's.
    @Test
    void anA100InSevenSlicesIsSevenDevicesThatAddUpToLessThanTheCard() throws Exception {
        FakeProfile profile = FakeProfile.of("a100");
        FakeNvml nvml = profile.applyTo(FakeNvml.compile(folder))
                .with("device.0.mig", 1)
                .with("device.0.migmax", 7);
        long slice = 4864 * MemoryBytes.MEBIBYTE;
        for (int place = 0; place < 7; place++) {
            String device = "device.0.mig" + place + ".";
            nvml.with(device + "uuid", "MIG-0000000%d-0000-5000-9000-000000000000".formatted(place))
                    .with(device + "name", profile.name() + " MIG 1g.5gb")
                    .with(device + "gi", 7 + place)
                    .with(device + "ci", 0)
                    .with(device + "memory", "%d,0,0,%d".formatted(slice, slice));
        }
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            List<DeviceInfo> slices = probe.devices().stream()
                    .filter(device -> device.kind() == DeviceKind.MIG)
                    .toList();
            MemoryBytes sum = slices.stream()
                    .map(device ->
                            probe.read(device.id()).memory().orElseThrow().total())
                    .reduce(MemoryBytes.ZERO, MemoryBytes::plus);

            assertThat(slices)
                    .hasSize(7)
                    .allMatch(device ->
                            device.mig().orElseThrow().profile().orElseThrow().equals("1g.5gb"))
                    .allMatch(device -> device.index() == 0);
            assertThat(probe.devices()).hasSize(7 + 7);
            assertThat(sum.value()).isEqualTo(7 * slice).isLessThan(profile.total());
        }
    }

    // A run as it goes: a rank starts, grows, a stranger comes, the card is lost and comes back.
    @Test
    void readingsFollowWhatHappensOnTheCard() throws Exception {
        FakeProfile profile = FakeProfile.of("h100");
        FakeNvml nvml = profile.applyTo(FakeNvml.compile(folder));
        DeviceId first = new DeviceId(profile.cards().get(0).uuid());
        long gib = MemoryBytes.GIBIBYTE;
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            nvml.with("device.0.memory", profile.memory(gib)).with("device.0.compute", "100:" + gib);
            assertThat(probe.read(first).memory().orElseThrow().used().value()).isEqualTo(gib);

            nvml.with("device.0.memory", profile.memory(60 * gib))
                    .with("device.0.compute", "100:%d,7:%d".formatted(50 * gib, 10 * gib));
            assertThat(probe.read(first).processes().orElseThrow())
                    .extracting(ProcessUse::pid)
                    .containsExactly(7L, 100L);

            for (String call : List.of(
                    "nvmlDeviceGetMigMode", "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetComputeRunningProcesses_v3")) {
                nvml.with("device.0.rc." + call, NvmlReturn.GPU_IS_LOST.code());
            }
            assertThat(probe.read(first).memory()).isEmpty();
            assertThat(probe.read(first).processes()).isEmpty();

            for (String call : List.of(
                    "nvmlDeviceGetMigMode", "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetComputeRunningProcesses_v3")) {
                nvml.without("device.0.rc." + call);
            }
            assertThat(probe.read(first).memory().orElseThrow().used().value()).isEqualTo(60 * gib);
        }
    }

    // Case A05: what an older structure gives against a newer driver, and under WSL.
    @Test
    void aRecordedGarbageListIsNotTrustedAndTheTotalsStayUsable() throws Exception {
        StringBuilder list = new StringBuilder();
        Cases.json("A05/nvml-running-processes.json").get("pids_as_returned").forEach(pid -> list.append(
                        list.isEmpty() ? "" : ",")
                .append(pid.asLong())
                .append(":na"));
        long mib = MemoryBytes.MEBIBYTE;
        FakeNvml nvml = FakeNvml.compile(folder)
                .withDevices(1)
                .with("device.0.memory", "%d,0,%d,%d".formatted(16376 * mib, 14360 * mib, 2016 * mib))
                .with("device.0.compute", list);
        try (NvmlProbe probe = NvmlProbe.open(nvml.path())) {
            DeviceReading garbage = probe.read(new DeviceId(FakeNvml.uuid(0)));
            assertThat(garbage.processes()).isEmpty();
            assertThat(garbage.memory().orElseThrow().used().value()).isEqualTo(14360 * mib);

            nvml.with("device.0.compute", "79:na");
            DeviceReading wsl = probe.read(new DeviceId(FakeNvml.uuid(0)));
            assertThat(wsl.processes()).contains(List.of(new ProcessUse(79, java.util.Optional.empty())));
            assertThat(wsl.problems())
                    .containsExactly("the driver does not tell the memory of 1 of 1 process, as under WDDM and WSL;"
                            + " it is unknown");
        }
    }
}
