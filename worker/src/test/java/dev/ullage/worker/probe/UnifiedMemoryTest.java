package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Case A01: a GPU that uses the host's memory. */
class UnifiedMemoryTest {
    private static final DeviceId FIRST = new DeviceId(FakeNvml.uuid(0));
    private static final MemoryBytes TOTAL = MemoryBytes.of(127600748L * 1024);
    private static final MemoryBytes AVAILABLE = MemoryBytes.of(118566368L * 1024);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static NvmlHost host(Optional<Boolean> integrated, String... meminfo) {
        CudaFacts cuda = new CudaFacts() {
            @Override
            public Optional<Boolean> isIntegrated(DeviceId device) {
                return integrated;
            }

            @Override
            public Optional<MemoryBytes> total(DeviceId device) {
                return Optional.empty();
            }

            @Override
            public List<DeviceId> numbered() {
                return List.of();
            }

            @Override
            public String description() {
                return "no CUDA in this test";
            }
        };
        return new NvmlHost(() -> HostMemory.parse(List.of(meminfo)), cuda, Duration.ofSeconds(10));
    }

    private static NvmlHost caseHost() throws Exception {
        return host(Optional.empty(), Cases.lines("A01/meminfo.txt").toArray(new String[0]));
    }

    private FakeNvml gb10(String name) throws Exception {
        JsonNode recorded = Cases.json("A01/nvml.json");
        FakeNvml nvml = FakeNvml.compile(Files.createDirectory(folder.resolve(name)))
                .withDevices(1)
                .without("device.0.memory")
                .with("device.0.name", recorded.get("device_name").asText())
                .with("driver", recorded.get("driver").asText());
        for (JsonNode call : recorded.get("calls")) {
            if (call.get("rc").asInt() != 0) {
                nvml.with("rc." + call.get("fn").asText(), call.get("rc").asInt());
            }
        }
        return nvml.with("device.0.compute", "114687:20064501760");
    }

    @Test
    void theDeviceIsKeptWithTheHostsTotalAndTheUseOfItsProcesses() throws Exception {
        try (NvmlProbe probe = NvmlProbe.open(gb10("a").path(), caseHost())) {
            DeviceReading reading = probe.read(FIRST);
            MemoryUse memory = reading.memory().orElseThrow();

            assertThat(probe.devices()).extracting(DeviceInfo::kind).containsExactly(DeviceKind.UNIFIED);
            assertThat(memory.total()).isEqualTo(TOTAL);
            assertThat(memory.used().value() / MemoryBytes.MEBIBYTE).isEqualTo(19135);
            assertThat(memory.allocatable()).isEqualTo(AVAILABLE);
            assertThat(memory.used().plus(memory.free()).plus(memory.reserved().orElseThrow()))
                    .isEqualTo(TOTAL);
            assertThat(reading.problems()).isEmpty();
            assertThat(probe.problems())
                    .extracting(DeviceProblem::text)
                    .containsExactly("whether it shares the host's memory is judged by NVML alone (no CUDA in this"
                            + " test): it does, as its processes are known");
        }
    }

    // The variants of the case: what the host uses besides is never the GPU's use.
    @Test
    void useIsTheSumOverTheProcessesAndNeverWhatTheHostUses() throws Exception {
        JsonNode variants = Cases.json("A01/variants.json");
        for (int i = 0; i < 2; i++) {
            MemoryBytes sum = gibibytes(variants.get(i).get("nvml_process_sum_GiB"));
            MemoryBytes wrong = gibibytes(variants.get(i).get("wrong_used_GiB_seen_upstream"));
            List<ProcessUse> processes = sum.isZero() ? List.of() : List.of(new ProcessUse(7, Optional.of(sum)));
            HostMemory host = new HostMemory(TOTAL, TOTAL.minus(wrong));

            MemoryUse memory = UnifiedMemory.use(Optional.of(host), Optional.of(processes), new ArrayList<>())
                    .orElseThrow();

            assertThat(memory.used())
                    .isEqualTo(gibibytes(variants.get(i).get("expect_gpu_used_GiB")))
                    .isNotEqualTo(wrong);
            assertThat(memory.free()).isEqualTo(host.available());
            assertThat(memory.allocatable()).isEqualTo(host.available().plus(sum));
        }
    }

    private static MemoryBytes gibibytes(JsonNode number) {
        return MemoryBytes.of((long) (number.asDouble() * MemoryBytes.GIBIBYTE));
    }

    @Test
    void aSumThatIsNotKnownIsUnknownAndNotZero() throws Exception {
        FakeNvml nvml = gb10("a");
        try (NvmlProbe probe = NvmlProbe.open(nvml.path(), caseHost())) {
            nvml.with("device.0.compute", "114687:na");
            DeviceReading reading = probe.read(FIRST);

            assertThat(reading.memory()).isEmpty();
            assertThat(reading.processes()).contains(List.of(new ProcessUse(114687, Optional.empty())));
            assertThat(reading.problems())
                    .containsExactly(
                            "the driver does not tell the memory of 1 of 1 process, as under WDDM and WSL; it is"
                                    + " unknown",
                            "memory is shared with the host and what the GPU's processes use is not known; memory is"
                                    + " unknown");
            nvml.with("device.0.compute", "114687:" + Long.MAX_VALUE / 2);
            assertThat(probe.read(FIRST).memory()).isEmpty();
        }
    }

    @Test
    void noSupportForMemoryAloneIsNoProofOfSharedMemory() throws Exception {
        FakeNvml mute =
                gb10("mute").with("rc.nvmlDeviceGetComputeRunningProcesses_v3", NvmlReturn.NOT_SUPPORTED.code());
        try (NvmlProbe probe = NvmlProbe.open(mute.path(), caseHost())) {
            assertThat(probe.devices()).extracting(DeviceInfo::kind).containsExactly(DeviceKind.DISCRETE);
            assertThat(probe.read(FIRST).memory()).isEmpty();
        }
        try (NvmlProbe probe = NvmlProbe.open(gb10("no-host").path(), host(Optional.empty()))) {
            assertThat(probe.devices()).extracting(DeviceInfo::kind).containsExactly(DeviceKind.DISCRETE);
        }
    }

    @Test
    void whatCudaSaysDecides() throws Exception {
        String[] meminfo = Cases.lines("A01/meminfo.txt").toArray(new String[0]);
        try (NvmlProbe probe = NvmlProbe.open(gb10("own").path(), host(Optional.of(false), meminfo))) {
            assertThat(probe.devices()).extracting(DeviceInfo::kind).containsExactly(DeviceKind.DISCRETE);
            assertThat(probe.problems()).isEmpty();
        }
        FakeNvml mute =
                gb10("jetson").with("rc.nvmlDeviceGetComputeRunningProcesses_v3", NvmlReturn.NOT_SUPPORTED.code());
        try (NvmlProbe probe = NvmlProbe.open(mute.path(), host(Optional.of(true), meminfo))) {
            assertThat(probe.devices()).extracting(DeviceInfo::kind).containsExactly(DeviceKind.UNIFIED);
            assertThat(probe.read(FIRST).memory()).isEmpty();
        }
    }

    // Drivers for the same part differ: one answers with the host's total as the device's, one with a total of 0.
    @Test
    void theHostsOwnTotalOrNoneAtAllIsTheAnswerOfADeviceWithoutMemory() throws Exception {
        for (String answer : List.of(TOTAL.value() + ",0,100," + (TOTAL.value() - 100), "0,0,0,0")) {
            FakeNvml nvml = FakeNvml.compile(Files.createDirectory(folder.resolve("total-" + answer.length())))
                    .withDevices(1)
                    .with("device.0.memory", answer)
                    .with("device.0.compute", "7:1048576");
            try (NvmlProbe probe = NvmlProbe.open(nvml.path(), caseHost())) {
                assertThat(probe.devices()).extracting(DeviceInfo::kind).containsExactly(DeviceKind.UNIFIED);
                assertThat(probe.read(FIRST).memory().orElseThrow().used()).isEqualTo(MemoryBytes.ofMebibytes(1));
            }
        }
    }

    @Test
    void aHostThatDoesNotSayIsUnknown() {
        assertThat(HostMemory.parse(List.of("MemTotal: 100 kB", "MemAvailable: 40 kB")))
                .contains(new HostMemory(MemoryBytes.of(102400), MemoryBytes.of(40960)));
        assertThat(HostMemory.parse(List.of("MemTotal: 100 kB"))).isEmpty();
        assertThat(HostMemory.parse(List.of("MemTotal: 100 kB", "MemAvailable: 400 kB")))
                .isEmpty();
        assertThat(HostMemory.parse(List.of("MemTotal: -1 kB", "MemAvailable: x kB")))
                .isEmpty();
        assertThat(HostMemory.read(Path.of("/nowhere/meminfo"))).isEmpty();
    }
}
