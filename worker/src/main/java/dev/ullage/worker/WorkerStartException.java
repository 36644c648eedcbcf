package dev.ullage.worker;

/** Why a worker cannot start; the message says what to do. */
public final class WorkerStartException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Kind kind;

    /** What stood in the way; decides the exit code. */
    public enum Kind {
        NO_DEVICES,
        DEVICE_ALREADY_OWNED,
        STATE_UNUSABLE
    }

    public WorkerStartException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    WorkerStartException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }
}
