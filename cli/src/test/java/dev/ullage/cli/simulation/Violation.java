package dev.ullage.cli.simulation;

/** A rule of the protocol was broken. */
final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Kind kind;

    /** Which sort of rule. */
    enum Kind {
        /** More was in force than allowed, or a promise was not kept. */
        SAFETY,
        /** The faults are over and the cluster does not come to rest. */
        LIVENESS,
        /** More messages than the protocol may need. */
        MESSAGES
    }

    Violation(Kind kind, String message) {
        super(message, null, false, false);
        this.kind = kind;
    }

    Kind kind() {
        return kind;
    }
}
