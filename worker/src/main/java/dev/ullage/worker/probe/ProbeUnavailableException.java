package dev.ullage.worker.probe;

/** A probe cannot be made on this host. The message is fit for a user: what is missing and what to do about it. */
public final class ProbeUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /** Why; for exit codes, readiness and tests. The words for people are in the message. */
    public enum Reason {
        /** No such library on this host: no NVIDIA driver, or a container without it. */
        LIBRARY_NOT_FOUND,
        /** A file of that name exists and is not a library this process can load, or not NVML. */
        LIBRARY_NOT_LOADABLE,
        /** This JVM cannot call native code, for example because its temporary folder is mounted noexec. */
        NATIVE_CALLS_NOT_POSSIBLE,
        /** The library is there, the kernel module is not. */
        DRIVER_NOT_LOADED,
        /** Library and kernel module have different versions: an update without a restart. */
        VERSION_MISMATCH,
        /** The user may not open the driver's device files. */
        NO_PERMISSION,
        /** A call into the driver has not come back. */
        DRIVER_HANGS,
        /** Anything else that NVML answered; the message has the code. */
        NVML_FAILED,
        /** {@code nvidia-smi} is not there, or does not say anything that can be used. */
        SMI_FAILED
    }

    public ProbeUnavailableException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public ProbeUnavailableException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
