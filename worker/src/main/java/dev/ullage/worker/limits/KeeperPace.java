package dev.ullage.worker.limits;

import java.time.Duration;

/** How many of its ticks a keeper waits until it reports though nothing changed. Pure. */
final class KeeperPace {
    private static final Duration WHILE_ORDERS_ARE_OUT = Duration.ofSeconds(1);
    /** Well within the time after which a coordinator does not plan on a report, also when one is lost. */
    private static final Duration AT_REST = Duration.ofSeconds(2);

    private KeeperPace() {}

    static int betweenReports(Duration tick) {
        return ticks(WHILE_ORDERS_ARE_OUT, tick);
    }

    /** And for so long no other tick is needed: nothing is to be repeated, and nothing expires. */
    static int atRest(Duration tick) {
        return ticks(AT_REST, tick);
    }

    private static int ticks(Duration time, Duration tick) {
        return (int) Math.max(1, time.dividedBy(tick));
    }
}
