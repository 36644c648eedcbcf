package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.NvmlCalls.RawLimits;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/** The driver's memory limits through NVML. */
final class NvmlLimits implements DriverLimits {
    private final NvmlCalls calls;
    private final Function<DeviceId, Optional<NvmlDevice>> devices;

    /** @param devices finds a device as it is now; empty when it is gone or the driver was let go of */
    NvmlLimits(NvmlCalls calls, Function<DeviceId, Optional<NvmlDevice>> devices) {
        this.calls = calls;
        this.devices = devices;
    }

    @Override
    public Limits get(DeviceId device, Path cgroup) throws IOException {
        RawLimits raw = success(calls.memoryLimits(find(device), cgroup.toString()));
        Optional<MemoryBytes> hard =
                raw.hard() == NvmlLibrary.NO_MEMORY_LIMIT ? Optional.empty() : Optional.of(amount(raw.hard()));
        return new Limits(amount(raw.soft()), hard, amount(raw.used()));
    }

    @Override
    public void set(DeviceId device, Path cgroup, MemoryBytes limit) throws IOException {
        success(calls.setMemoryLimits(find(device), cgroup.toString(), limit.value(), limit.value()));
    }

    @Override
    public void clear(DeviceId device, Path cgroup) throws IOException {
        success(calls.setMemoryLimits(find(device), cgroup.toString(), 0, NvmlLibrary.NO_MEMORY_LIMIT));
    }

    private NvmlHandle find(DeviceId device) throws IOException {
        return devices.apply(device)
                .orElseThrow(() -> new IOException("device " + device + " is not listed by the driver"))
                .handle();
    }

    private static <T> T success(NvmlAnswer<T> answer) throws IOException {
        return answer.value().orElseThrow(() -> new IOException(answer.failure()));
    }

    private static MemoryBytes amount(long bytes) throws IOException {
        if (bytes < 0) {
            throw new IOException("the driver answered " + Long.toUnsignedString(bytes) + " bytes, which cannot be");
        }
        return MemoryBytes.of(bytes);
    }
}
