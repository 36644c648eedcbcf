package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.MemoryBytes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Round trip over the fake library: what a recording shows is what was seen while it was made. */
class NvmlRecorderTest {
    private static final NvmlHost NO_CUDA = new NvmlHost(
            () -> Optional.of(new HostMemory(MemoryBytes.ofGibibytes(128), MemoryBytes.ofGibibytes(100))),
            CudaFacts.none("no CUDA in this test"),
            Duration.ofSeconds(10));

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    /** All that can be seen of a probe. */
    private record Seen(
            String description, List<DeviceInfo> devices, List<DeviceProblem> problems, List<DeviceReading> readings) {
        static Seen of(NvmlProbe probe) {
            List<DeviceReading> readings = new ArrayList<>();
            probe.devices().forEach(device -> readings.add(probe.read(device.id())));
            return new Seen(probe.description(), probe.devices(), probe.problems(), readings);
        }
    }

    private Seen replaysAsRecorded(FakeNvml nvml) throws Exception {
        NvmlRecorder recorder = new NvmlRecorder();
        Seen there;
        try (NvmlProbe probe = NvmlProbe.recorded(nvml.path(), recorder, NO_CUDA)) {
            there = Seen.of(probe);
        }
        NvmlRecording recording = NvmlRecording.parse(recorder.json());
        assertThat(recording.madeUp()).isEmpty();
        try (NvmlProbe probe = NvmlProbe.replayed(recording, Optional.empty())) {
            assertThat(Seen.of(probe)).isEqualTo(there);
        }
        return there;
    }

    @ParameterizedTest
    @ValueSource(strings = {"a100", "h100", "b200", "gb200", "l40s", "t4"})
    void hostsFullOfTheGpusPeopleHave(String name) throws Exception {
        FakeProfile profile = FakeProfile.of(name);
        Seen seen = replaysAsRecorded(profile.applyTo(FakeNvml.compile(folder))
                .with("device.0.compute", "100:1073741824,101:na")
                .with("device.1.graphics", "7:5"));
        assertThat(seen.devices()).hasSameSizeAs(profile.cards());
        assertThat(seen.readings().get(0).processes().orElseThrow()).hasSize(2);
    }

    @Test
    void slicesAndWhatIsLostOrRefusedOrNotANumber() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder, "-DWITHOUT_PROCESSES_V3")
                .withDevices(5)
                .with("device.0.mig", 1)
                .with("device.0.migmax", 3)
                .with("device.0.mig1.uuid", "MIG-1")
                .with("device.0.mig1.gi", 9)
                .with("device.0.mig1.ci", 0)
                .with("device.0.mig1.slices", "3,3,20096")
                .with("device.0.mig1.memory", "1000,0,400,600")
                .with("device.0.mig1.rc.nvmlDeviceGetComputeRunningProcesses_v2", 3)
                .with("device.0.compute", "100:400:9,101:5:2")
                .with("device.1.rc.nvmlDeviceGetUUID", 15)
                .with("device.2.rc.nvmlDeviceGetMemoryInfo_v2", 15)
                .with("device.3.memory", "10,0,11,18446744073709551615")
                .with("device.4.compute", "0:na,4294967295:na");
        Seen seen = replaysAsRecorded(nvml);

        assertThat(seen.devices()).extracting(DeviceInfo::kind).contains(DeviceKind.MIG, DeviceKind.DISCRETE);
        assertThat(seen.devices()).hasSize(4);
        assertThat(seen.readings().toString()).contains("GPU_IS_LOST", "18446744073709551615", "not trusted");
    }

    @Test
    void aDeviceThatSharesTheHostsMemory() throws Exception {
        Seen seen = replaysAsRecorded(FakeNvml.compile(folder)
                .withDevices(1)
                .without("device.0.memory")
                .with("device.0.compute", "114687:20064501760"));
        assertThat(seen.devices()).extracting(DeviceInfo::kind).containsExactly(DeviceKind.UNIFIED);
        assertThat(seen.readings().get(0).memory().orElseThrow().used().value()).isEqualTo(20064501760L);
    }

    @Test
    void aDriverThatDoesNotStart() throws Exception {
        NvmlRecorder recorder = new NvmlRecorder();
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(1).with("rc.nvmlInit_v2", 18);
        assertThat(open(() -> NvmlProbe.recorded(nvml.path(), recorder, NO_CUDA)))
                .isEqualTo(open(() -> NvmlProbe.replayed(NvmlRecording.parse(recorder.json()), Optional.empty())))
                .contains("VERSION_MISMATCH", "Driver/library version mismatch");
    }

    private interface Opening {
        NvmlProbe open() throws Exception;
    }

    private static String open(Opening opening) throws Exception {
        try (NvmlProbe probe = opening.open()) {
            return probe.description();
        } catch (ProbeUnavailableException e) {
            return e.reason() + " " + String.valueOf(e.getMessage()).replaceAll("'.*?'", "'library'");
        }
    }

    @Test
    void recordingChangesNothingOnTheMachine() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(2).with("event", "1:0:79");
        NvmlRecorder recorder = new NvmlRecorder();
        try (NvmlProbe probe = NvmlProbe.recorded(nvml.path(), recorder, NO_CUDA)) {
            DeviceId first = probe.devices().get(0).id();
            assertThat(probe.read(first).problems()).isEmpty();
            assertThat(refused(probe.driverLimits().orElseThrow(), first)).contains("not while recording");
        }
        assertThat(nvml.log()).noneMatch(call -> call.contains("Event") || call.contains("Limits"));
    }

    private String refused(DriverLimits limits, DeviceId device) {
        try {
            limits.set(device, folder, MemoryBytes.ofGibibytes(1));
            return "done";
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
