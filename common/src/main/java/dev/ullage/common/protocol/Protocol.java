package dev.ullage.common.protocol;

/** Constants of the protocol between worker and coordinator. */
public final class Protocol {
    /** Raised by a change that an older peer cannot ignore. */
    public static final int VERSION = 1;

    private Protocol() {}
}
