package dev.ullage.worker.probe;

import java.util.Optional;

/**
 * What one NVML call answered.
 *
 * @param call the C function
 * @param code its return code
 * @param explanation the library's words for the code; empty on success
 * @param value the result; present exactly on success
 */
record NvmlAnswer<T>(String call, int code, String explanation, Optional<T> value) {
    static <T> NvmlAnswer<T> success(String call, T value) {
        return new NvmlAnswer<>(call, NvmlReturn.SUCCESS.code(), "", Optional.of(value));
    }

    static <T> NvmlAnswer<T> failed(String call, int code, String explanation) {
        return new NvmlAnswer<>(call, code, explanation, Optional.empty());
    }

    NvmlReturn outcome() {
        return NvmlReturn.of(code);
    }

    /** {@code nvmlDeviceGetUUID: GPU_IS_LOST (15, GPU is lost)}; empty on success. */
    String failure() {
        return isSuccess() ? "" : "%s: %s (%d, %s)".formatted(call, outcome(), code, explanation);
    }

    boolean isSuccess() {
        return value.isPresent();
    }
}
