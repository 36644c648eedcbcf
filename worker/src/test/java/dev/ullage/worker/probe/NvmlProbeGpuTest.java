package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.testing.Requires;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What holds for every real device. Skipped, with the printed reason, on a machine without one. */
@Tag("gpu")
class NvmlProbeGpuTest {
    @Test
    void everyRealDeviceIsReadToTheByte() {
        try (NvmlProbe probe = NvmlProbe.open(NvmlProbe.DEFAULT_LIBRARY)) {
            assertThat(probe.devices().size() + probe.problems().size()).isPositive();
            for (DeviceInfo device : probe.devices()) {
                DeviceReading reading = probe.read(device.id());
                assertThat(reading.memory().isPresent() || !reading.problems().isEmpty())
                        .isTrue();
                reading.memory().ifPresent(NvmlProbeGpuTest::addsUp);
            }
        } catch (ProbeUnavailableException e) {
            Requires.that(false, Requires.MACHINE + e.getMessage());
        }
    }

    @Test
    void aContextCostsSomethingThatCanBeTold() {
        Requires.nvidiaGpu();
        try (NvmlProbe probe = NvmlProbe.open(NvmlProbe.DEFAULT_LIBRARY)) {
            for (DeviceInfo device : probe.devices()) {
                ContextOverhead overhead = ContextOverhead.measure(probe, device.id());
                assertThat(overhead.bytes().orElse(MemoryBytes.ofGibibytes(1)).value())
                        .as(overhead.how())
                        .isBetween(
                                MemoryBytes.ofMebibytes(16).value(),
                                MemoryBytes.ofGibibytes(4).value());
            }
        } catch (ProbeUnavailableException e) {
            Requires.that(false, Requires.MACHINE + e.getMessage());
        }
    }

    private static void addsUp(MemoryUse memory) {
        MemoryBytes reserved = memory.reserved().orElse(MemoryBytes.ZERO);
        assertThat(memory.used().plus(memory.free()).plus(reserved)).isEqualTo(memory.total());
    }
}
