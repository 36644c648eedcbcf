package dev.ullage.worker.probe;

import java.util.List;

/** NVML's return codes, as far as Ullage tells them apart. Drivers may answer others: those are {@link #UNLISTED}. */
public enum NvmlReturn {
    SUCCESS(0),
    UNINITIALIZED(1),
    INVALID_ARGUMENT(2),
    NOT_SUPPORTED(3),
    NO_PERMISSION(4),
    NOT_FOUND(6),
    INSUFFICIENT_SIZE(7),
    DRIVER_NOT_LOADED(9),
    TIMEOUT(10),
    LIBRARY_NOT_FOUND(12),
    FUNCTION_NOT_FOUND(13),
    GPU_IS_LOST(15),
    RESET_REQUIRED(16),
    OPERATING_SYSTEM(17),
    LIB_RM_VERSION_MISMATCH(18),
    MEMORY(20),
    ARGUMENT_VERSION_MISMATCH(25),
    UNKNOWN(999),
    /** Not a code of NVML: stands for every number that is not in this list. */
    UNLISTED(-1);

    private static final List<NvmlReturn> ALL = List.of(values());

    private final int code;

    NvmlReturn(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    public static NvmlReturn of(int code) {
        for (NvmlReturn value : ALL) {
            if (value.code == code) {
                return value;
            }
        }
        return UNLISTED;
    }
}
