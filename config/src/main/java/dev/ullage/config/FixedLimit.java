package dev.ullage.config;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.util.Optional;

/**
 * A limit that somebody named: an amount, or a share of the device.
 *
 * @param amount the amount; when it is empty, {@code share} counts
 * @param share of what the device can give out at all, before its reserve
 */
public record FixedLimit(Optional<MemoryBytes> amount, Share share) {

    public static FixedLimit of(MemoryBytes amount) {
        return new FixedLimit(Optional.of(amount), Share.ALL);
    }

    public static FixedLimit of(Share share) {
        return new FixedLimit(Optional.empty(), share);
    }

    /** What it comes to on a device. */
    public MemoryBytes on(MemoryBytes allocatable) {
        return amount.orElseGet(() -> allocatable.times(share));
    }

    @Override
    public String toString() {
        return amount.map(MemoryBytes::toString).orElseGet(share::toString);
    }
}
