package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The {@link GpuChecks} on this machine's devices. Skipped, with the printed reason, on a machine without one. */
@Tag("gpu")
class NvmlProbeGpuTest {
    private interface Check {
        void of(GpuProbe probe, GpuChecks checks) throws IOException;
    }

    private static void onRealDevices(Check check) throws IOException {
        try (NvmlProbe probe = NvmlProbe.open(NvmlProbe.DEFAULT_LIBRARY)) {
            assertThat(probe.devices().size() + probe.problems().size()).isPositive();
            check.of(probe, new GpuChecks(probe, "nvidia-smi"));
        } catch (ProbeUnavailableException e) {
            Requires.that(false, Requires.MACHINE + e.getMessage());
        }
    }

    /** Making a context on a slice needs the process to be told of it at its start. */
    private static List<DeviceId> whole(GpuProbe probe) {
        List<DeviceId> whole = probe.devices().stream()
                .filter(device -> device.kind() != DeviceKind.MIG)
                .map(DeviceInfo::id)
                .toList();
        Requires.that(!whole.isEmpty(), Requires.MACHINE + "all GPUs are in MIG mode");
        return whole;
    }

    @Test
    void everyRealDeviceIsReadToTheByte() throws IOException {
        onRealDevices((probe, checks) -> checks.everyReadingAddsUp());
    }

    @Test
    void thereAreAsManyAsNvidiaSmiListsWithItsTotals() throws IOException {
        Requires.nvidiaGpu();
        onRealDevices((probe, checks) -> {
            checks.countIsThatOfTheTool();
            checks.totalsAreThoseOfTheTool();
        });
    }

    @Test
    void aContextCostsSomethingThatCanBeTold() throws IOException {
        Requires.nvidiaGpu();
        onRealDevices((probe, checks) -> whole(probe).forEach(checks::contextCostsSomething));
    }

    @Test
    void aGibibyteInAContextIsReadWithinTwoPercent() throws IOException {
        Requires.nvidiaGpu();
        onRealDevices((probe, checks) -> whole(probe).forEach(checks::aKnownAmountIsReadWithinTwoPercent));
    }

    @Test
    void aRecordingOfThemShowsTheSameDevices() throws Exception {
        NvmlRecorder recorder = new NvmlRecorder();
        List<DeviceInfo> seen;
        try (NvmlProbe probe = NvmlProbe.recorded(NvmlProbe.DEFAULT_LIBRARY, recorder)) {
            seen = probe.devices();
        } catch (ProbeUnavailableException e) {
            Requires.that(false, Requires.MACHINE + e.getMessage());
            return;
        }
        try (NvmlProbe replayed =
                NvmlProbe.replayed(NvmlRecording.parse(recorder.json()), java.util.Optional.empty())) {
            assertThat(replayed.devices()).isEqualTo(seen);
        }
    }
}
