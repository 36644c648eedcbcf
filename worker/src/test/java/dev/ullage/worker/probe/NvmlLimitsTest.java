package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The driver's memory limits over the real calling convention. */
class NvmlLimitsTest {
    private static final DeviceId DEVICE = new DeviceId(FakeNvml.uuid(0));

    @TempDir
    private Path folder;

    private Optional<NvmlProbe> open = Optional.empty();

    @AfterEach
    void close() {
        open.ifPresent(NvmlProbe::close);
    }

    private DriverLimits limits(FakeNvml nvml) throws ProbeUnavailableException {
        NvmlProbe probe = NvmlProbe.open(nvml.path());
        open = Optional.of(probe);
        return probe.driverLimits().orElseThrow();
    }

    private IOException refused(DriverLimits limits) {
        return catchThrowableOfType(IOException.class, () -> limits.set(DEVICE, folder, MemoryBytes.ofMebibytes(4000)));
    }

    @Test
    void whatIsInForceIsWhatTheDriverMadeOfIt() throws Exception {
        DriverLimits limits = limits(FakeNvml.compile(folder)
                .withDevices(1)
                .with("limitstep", 256 << 20)
                .with("device.0.limitused", 512 << 20));
        assertThat(limits.get(DEVICE, folder))
                .isEqualTo(new DriverLimits.Limits(MemoryBytes.ZERO, Optional.empty(), MemoryBytes.ofMebibytes(512)));

        limits.set(DEVICE, folder, MemoryBytes.ofMebibytes(4000));

        assertThat(limits.get(DEVICE, folder))
                .isEqualTo(new DriverLimits.Limits(
                        MemoryBytes.ofMebibytes(4096),
                        Optional.of(MemoryBytes.ofMebibytes(4096)),
                        MemoryBytes.ofMebibytes(512)));
        limits.clear(DEVICE, folder);
        assertThat(limits.get(DEVICE, folder).hard()).isEmpty();
        assertThat(limits.get(DEVICE, folder).soft()).isEqualTo(MemoryBytes.ZERO);
    }

    @Test
    void anOlderDriverDoesNotHaveTheCalls() throws Exception {
        DriverLimits limits =
                limits(FakeNvml.compile(folder, "-DWITHOUT_MEMORY_LIMITS").withDevices(1));

        assertThat(refused(limits)).hasMessageStartingWith("nvmlDeviceSetMemoryLimits_v1: FUNCTION_NOT_FOUND");
    }

    @Test
    void aRefusalIsTheDriversAnswer() throws Exception {
        FakeNvml nvml = FakeNvml.compile(folder).withDevices(1).with("rc.nvmlDeviceSetMemoryLimits_v1", 4);
        DriverLimits limits = limits(nvml);
        assertThat(refused(limits)).hasMessageStartingWith("nvmlDeviceSetMemoryLimits_v1: NO_PERMISSION");
        nvml.with("rc.nvmlDeviceSetMemoryLimits_v1", 3);
        assertThat(refused(limits)).hasMessageContaining("NOT_SUPPORTED");
        open.orElseThrow().close();
        assertThat(refused(limits)).hasMessageContaining("is not listed by the driver");
    }
}
