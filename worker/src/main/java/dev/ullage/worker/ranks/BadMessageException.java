package dev.ullage.worker.ranks;

/** A rank was refused; {@link #code()} goes to the client, the message to the person. */
final class BadMessageException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Code code;

    /** The codes of docs/protocol.md, section 1. */
    enum Code {
        BAD_MESSAGE,
        BAD_VERSION,
        NOT_YOURS,
        NO_SUCH_PROCESS,
        NO_SUCH_DEVICE,
        TOO_MANY_RANKS,
        STALE_RESTART
    }

    BadMessageException(Code code, String message) {
        super(message);
        this.code = code;
    }

    Code code() {
        return code;
    }
}
