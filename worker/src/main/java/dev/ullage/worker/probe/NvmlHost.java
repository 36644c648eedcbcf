package dev.ullage.worker.probe;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What NVML does not know of itself.
 *
 * @param memory the host's memory now
 * @param cuda asked about devices whose memory NVML cannot tell
 * @param lookWithin how long the look at one index may take before the others are not kept waiting for it
 */
record NvmlHost(Supplier<Optional<HostMemory>> memory, CudaFacts cuda, Duration lookWithin) {
    /** A driver that was not loaded for a while takes its time to wake a device. */
    private static final Duration LOOK_WITHIN = Duration.ofSeconds(30);

    static NvmlHost real(CudaFacts cuda) {
        return new NvmlHost(() -> HostMemory.read(HostMemory.FILE), cuda, LOOK_WITHIN);
    }
}
