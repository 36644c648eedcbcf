package dev.ullage.cli.client;

/** The coordinator did not do what it was asked; the message says why, in one line. */
public final class ApiException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Reason reason;

    public enum Reason {
        /** Nobody answers, or nobody who knows the cluster. */
        UNREACHABLE,
        /** Somebody answers, and does not want to. */
        REFUSED,
        /** Whatever answers is no coordinator of this version. */
        UNUSABLE
    }

    ApiException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    ApiException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
