package dev.ullage.worker.probe;

import java.util.Optional;

/**
 * What one NVML call answered.
 *
 * @param call the C function
 * @param outcome its return code
 * @param failure {@code nvmlDeviceGetUUID: GPU_IS_LOST (15, GPU is lost)}; empty on success
 * @param value the result; present exactly on success
 */
record NvmlAnswer<T>(String call, NvmlReturn outcome, String failure, Optional<T> value) {
    static <T> NvmlAnswer<T> success(String call, T value) {
        return new NvmlAnswer<>(call, NvmlReturn.SUCCESS, "", Optional.of(value));
    }

    static <T> NvmlAnswer<T> failed(String call, int code, String explanation) {
        NvmlReturn outcome = NvmlReturn.of(code);
        return new NvmlAnswer<>(
                call, outcome, "%s: %s (%d, %s)".formatted(call, outcome, code, explanation), Optional.empty());
    }

    boolean isSuccess() {
        return value.isPresent();
    }
}
