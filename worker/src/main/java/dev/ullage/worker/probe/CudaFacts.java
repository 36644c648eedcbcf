package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.Optional;

/** What only CUDA knows about a device. Asked only where NVML cannot say, because it is costly to load. */
interface CudaFacts {
    /** Whether the device uses the host's memory; empty when CUDA cannot be asked. */
    Optional<Boolean> isIntegrated(DeviceId device);

    /** All of the device's memory that programs can have; empty when CUDA cannot be asked. */
    Optional<MemoryBytes> total(DeviceId device);

    /** The devices as CUDA numbers them in this process; empty when CUDA cannot be asked. */
    List<DeviceId> numbered();

    /** One line: what answers, or why nothing does. */
    String description();

    /** No CUDA, for a stated reason. */
    static CudaFacts none(String reason) {
        return new CudaFacts() {
            @Override
            public Optional<Boolean> isIntegrated(DeviceId device) {
                return Optional.empty();
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
                return reason;
            }
        };
    }
}
