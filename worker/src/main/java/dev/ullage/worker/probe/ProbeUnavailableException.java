package dev.ullage.worker.probe;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A probe cannot be made on this host. The message is fit for a user: what is missing and what to do about it. */
public final class ProbeUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Reason reason;
    private final String fact;
    private final String remedy;

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

    /** One for which nothing can be named that would help. */
    public ProbeUnavailableException(Reason reason, String fact) {
        this(reason, fact, "", null);
    }

    /** One for which nothing can be named that would help. */
    public ProbeUnavailableException(Reason reason, String fact, Throwable cause) {
        this(reason, fact, "", cause);
    }

    /**
     * @param fact what is wrong
     * @param remedy what to do about it; empty where nothing can be named
     */
    ProbeUnavailableException(Reason reason, String fact, String remedy, @Nullable Throwable cause) {
        super(remedy.isEmpty() ? fact : fact + ": " + remedy, cause);
        this.reason = reason;
        this.fact = fact;
        this.remedy = remedy;
    }

    public Reason reason() {
        return reason;
    }

    /** What is wrong, without what to do about it. */
    public String fact() {
        return fact;
    }

    /** What to do about it; empty where nothing can be named. */
    public Optional<String> remedy() {
        return Optional.of(remedy).filter(text -> !text.isEmpty());
    }
}
