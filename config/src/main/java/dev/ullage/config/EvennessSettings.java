package dev.ullage.config;

import dev.ullage.common.model.Share;
import java.time.Duration;
import java.util.Locale;

/**
 * How evenly ranks and devices are to be used, and what is done about it.
 *
 * @param every how often it is looked at, longer than zero
 * @param looks how many looks in a row must agree before anything is said or done, 1 or more
 * @param unevenFrom how far above the median the largest rank of a job must be, or how far from the mean of all devices
 *     one must be, to be called uneven
 * @param gainFrom the least that the fullest rank or device must come down by, of what it can hold
 * @param maxOrders most orders of batch shares to one job, 1 or more
 */
public record EvennessSettings(Mode mode, Duration every, int looks, Share unevenFrom, Share gainFrom, int maxOrders) {

    public EvennessSettings {
        if (every.isZero() || every.isNegative() || looks < 1 || maxOrders < 1) {
            throw new IllegalArgumentException("every must be longer than zero, looks and max-orders 1 or more: "
                    + every + ", " + looks + ", " + maxOrders);
        }
    }

    public static EvennessSettings defaults() {
        return new EvennessSettings(
                Mode.SUGGEST, Duration.ofSeconds(5), 3, Share.ofPercent(25), Share.ofPercent(10), 8);
    }

    /** What is done. */
    public enum Mode {
        /** Not looked at. */
        OFF,
        /** What is uneven is shown, and what would even it out; nothing is sent. */
        SUGGEST,
        /** Jobs that take batch shares are ordered them. Moves of ranks stay suggestions. */
        ON;

        /** As the settings spell it. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
