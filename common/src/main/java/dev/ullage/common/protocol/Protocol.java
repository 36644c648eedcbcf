package dev.ullage.common.protocol;

import java.time.Duration;

/** Constants of the protocol between worker and coordinator. */
public final class Protocol {
    /** Raised by a change that an older peer cannot ignore. */
    public static final int VERSION = 1;

    /** How long a device keeps a reservation that nobody commits, by its worker's clock. */
    public static final Duration RESERVATION_KEPT = Duration.ofSeconds(10);

    /**
     * How long an attempt to place a job may take until every part is committed, by its coordinator's clock: less than
     * {@link #RESERVATION_KEPT}, so that a part that is reserved is still there to be committed. No promise rests on
     * it.
     */
    public static final Duration PLACED_WITHIN = Duration.ofSeconds(8);

    private Protocol() {}
}
