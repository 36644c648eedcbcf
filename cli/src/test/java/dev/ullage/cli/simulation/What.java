package dev.ullage.cli.simulation;

/** What a line of the trace is about; a number made of its name goes into the hash. */
enum What {
    DISTURBANCE,
    ORDER,
    IN_FORCE,
    HELLO,
    CONFIRM,
    TO_COORDINATOR,
    TO_WORKER,
    LEADERSHIP,
    CRASH,
    START,
    CALM,
    RESERVATION;

    private final int code = name().hashCode();

    int code() {
        return code;
    }
}
