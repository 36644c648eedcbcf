package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Recordings of NVML as people write them down (cases A01, A02, A05), and as they must not be. */
class NvmlRecordingTest {
    private static NvmlProbe replay(String json, Optional<HostMemory> host) throws Exception {
        return NvmlProbe.replayed(NvmlRecording.parse(json), host);
    }

    private static NvmlProbe replayCase(String file) throws Exception {
        return replay(Files.readString(Cases.file(file)), Optional.empty());
    }

    @Test
    void aCardWithoutMemoryOfItsOwnHasTheHostsAndTheUseOfItsProcesses() throws Exception {
        Optional<HostMemory> host = HostMemory.parse(Cases.lines("A01/meminfo.txt"));
        try (NvmlProbe probe = replay(Files.readString(Cases.file("A01/nvml.json")), host)) {
            DeviceInfo device = probe.devices().get(0);
            MemoryUse memory = probe.read(device.id()).memory().orElseThrow();

            assertThat(probe.description()).isEqualTo("NVML, driver 580.173.02");
            assertThat(device.name()).isEqualTo("NVIDIA GB10");
            assertThat(device.kind()).isEqualTo(DeviceKind.UNIFIED);
            assertThat(memory.total().value()).isEqualTo(127600748L * 1024);
            assertThat(memory.used().value() / MemoryBytes.MEBIBYTE).isEqualTo(19135);
        }
    }

    @Test
    void withoutTheHostsMemoryThatOfSuchACardIsUnknownAndNotZero() throws Exception {
        try (NvmlProbe probe = replayCase("A01/nvml.json")) {
            DeviceReading reading = probe.read(probe.devices().get(0).id());
            assertThat(reading.memory()).isEmpty();
            assertThat(reading.problems()).anyMatch(problem -> problem.contains("NOT_SUPPORTED (3, as recorded)"));
        }
    }

    @Test
    void aSliceIsSeenThoughItsCardMayNotBeAsked() throws Exception {
        try (NvmlProbe probe = replayCase("A02/nvml.json")) {
            assertThat(probe.devices()).extracting(DeviceInfo::kind).containsExactly(DeviceKind.MIG);
            DeviceId slice = probe.devices().get(0).id();
            assertThat(slice.value()).isEqualTo("MIG-not-recorded-0.mig0");
            MemoryUse memory = probe.read(slice).memory().orElseThrow();
            assertThat(memory.total().value()).isEqualTo(20937965568L);
            assertThat(memory.used().value()).isEqualTo(15063842816L);
            assertThat(memory.reserved()).isEmpty();
        }
    }

    @Test
    void aGarbageListOfPidsIsNotTrusted() throws Exception {
        try (NvmlProbe probe = replayCase("A05/nvml-running-processes.json")) {
            DeviceReading reading = probe.read(probe.devices().get(0).id());
            assertThat(reading.processes()).isEmpty();
            assertThat(reading.memory()).isEmpty();
            assertThat(reading.problems()).anyMatch(problem -> problem.contains("has the pid 0, so it is not trusted"));
        }
    }

    @Test
    void whatAShortRecordingLeavesOutIsSaid() throws Exception {
        assertThat(NvmlRecording.parse(Files.readString(Cases.file("A02/nvml.json")))
                        .madeUp())
                .hasSize(3)
                .anyMatch(note -> note.contains("the UUIDs shown are made up"));
    }

    @Test
    void aCallThatHadNotComeBackIsATimeoutOfThatDeviceAlone() throws Exception {
        String json =
                """
                {"calls": [
                  {"fn": "nvmlDeviceGetCount_v2", "rc": 0, "count": 2},
                  {"fn": "nvmlDeviceGetUUID(0)", "rc": 0, "uuid": "GPU-a"},
                  {"fn": "nvmlDeviceGetUUID(1)", "rc": null},
                  {"fn": "nvmlDeviceGetMemoryInfo_v2(0)", "rc": 0, "total": 10, "reserved": 1, "free": 6, "used": 3},
                  {"fn": "nvmlDeviceGetComputeRunningProcesses_v3(0)", "rc": 0,
                   "procs": [{"pid": 7, "usedGpuMemory": null}, {"pid": 8, "usedGpuMemory": 3}]}]}""";
        try (NvmlProbe probe = replay(json, Optional.empty())) {
            DeviceId first = new DeviceId("GPU-a");
            assertThat(probe.devices()).extracting(DeviceInfo::id).containsExactly(first);
            assertThat(probe.problems().toString())
                    .contains("nvmlDeviceGetUUID: TIMEOUT (10, it had not come back when this was recorded)");
            assertThat(probe.read(first).processes())
                    .contains(List.of(
                            new ProcessUse(7, Optional.empty()), new ProcessUse(8, Optional.of(MemoryBytes.of(3)))));
        }
    }

    @Test
    void answersOfTheSameCallComeInTheirOrderAndTheLastOneStays() throws Exception {
        String memory = "{\"fn\": \"nvmlDeviceGetMemoryInfo_v2\", \"rc\": 0, \"total\": 100, \"reserved\": 0,"
                + " \"free\": %d, \"used\": %d}";
        String json = "{\"calls\": [" + memory.formatted(90, 10) + ", " + memory.formatted(80, 20) + ", "
                + memory.formatted(70, 30) + "]}";
        try (NvmlProbe probe = replay(json, Optional.empty())) {
            DeviceId only = probe.devices().get(0).id();
            // The first answer was the one to the look for devices.
            assertThat(List.of(used(probe, only), used(probe, only), used(probe, only)))
                    .containsExactly(20L, 30L, 30L);
        }
    }

    private static long used(NvmlProbe probe, DeviceId device) {
        return probe.read(device).memory().orElseThrow().used().value();
    }

    @Test
    void aFailureToStartIsWhatThereIsToSee() {
        assertThatThrownBy(() -> replay("{\"fn\": \"nvmlInit_v2\", \"rc\": 18}", Optional.empty()))
                .isInstanceOf(ProbeUnavailableException.class)
                .hasMessageContaining("library and kernel module have different versions");
    }

    @Test
    void allThatIsWrongIsSaidAtOnceWithItsPlace() {
        String json =
                """
                {"format": "other-2",
                 "host": {"memTotalBytes": 5, "memAvailableBytes": 6},
                 "cuda": {"description": "CUDA", "integrated": {"GPU-a": "yes"}},
                 "calls": [
                  {"fn": "nvmlDeviceReset(0)", "rc": 0},
                  {"fn": "nvmlDeviceGetMemoryInfo_v2(0)", "rc": 0, "total": -1, "free": "6 GiB", "used": 3},
                  {"fn": "nvmlDeviceGetUUID(first)", "rc": "ok"},
                  {"rc": 0},
                  {"fn": "nvmlDeviceGetComputeRunningProcesses_v3", "rc": 0, "procs": [{"pid": 1}]}]}""";
        NvmlRecordingException e = catchThrowableOfType(NvmlRecordingException.class, () -> NvmlRecording.parse(json));

        assertThat(e.problems())
                .hasSize(11)
                .contains(
                        "calls[1].total is -1; it must be a whole number of bytes, 0 to 18446744073709551615",
                        "calls[1].reserved is missing; it must be a whole number of bytes, 0 to 18446744073709551615",
                        "calls[2].rc is \"ok\"; it must be the whole number that the call answered,"
                                + " or null when it had not come back",
                        "calls[3].fn is missing; it must be there",
                        "cuda.integrated.GPU-a is \"yes\"; it must be true or false",
                        "host: memTotalBytes must be above 0 and memAvailableBytes at most that")
                .anyMatch(problem -> problem.startsWith("format is \"other-2\""))
                .anyMatch(problem -> problem.startsWith("calls[0].fn is \"nvmlDeviceReset(0)\"; it must be a function"))
                .anyMatch(problem -> problem.startsWith("calls[1].free is \"6 GiB\""))
                .anyMatch(problem -> problem.startsWith("calls[2].fn is \"nvmlDeviceGetUUID(first)\"; it must be an"))
                .anyMatch(problem -> problem.startsWith("calls[4].procs[0].usedGpuMemory is missing"));
    }

    @Test
    void whatIsNoJsonOrNoRecordingSaysSo() {
        assertThatThrownBy(() -> NvmlRecording.parse("{\"calls\": [\n {,"))
                .hasMessageStartingWith("it is not JSON: line 2, column 3: ");
        assertThatThrownBy(() -> NvmlRecording.parse("{}"))
                .hasMessage("it has neither 'calls' nor 'fn', so it is no recording of NVML");
        assertThatThrownBy(() -> NvmlRecording.parse("{\"calls\": 5}"))
                .hasMessage("calls is 5; it must be a list of at most 100000");
    }
}
