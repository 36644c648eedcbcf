package dev.ullage.coordinator.evenness;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.math.BigInteger;

/** A part of a whole in basis points, where the part may be the larger. */
final class Fill {
    private static final BigInteger ONE = BigInteger.valueOf(10_000);
    private static final BigInteger MOST = BigInteger.valueOf(Integer.MAX_VALUE);

    private Fill() {}

    /** Rounded down; the most an int holds where it would be more, and of nothing. */
    static int basisPoints(MemoryBytes part, MemoryBytes whole) {
        return whole.isZero() ? Integer.MAX_VALUE : ratio(part, whole, ONE);
    }

    /** Likewise in percent. */
    static int percent(MemoryBytes part, MemoryBytes whole) {
        return whole.isZero() ? Integer.MAX_VALUE : ratio(part, whole, BigInteger.valueOf(100));
    }

    /** Of {@code base + perSample x samples}, which may be more than a number of bytes can be. */
    static int basisPoints(MemoryBytes base, MemoryBytes perSample, long samples, MemoryBytes whole) {
        BigInteger part = BigInteger.valueOf(perSample.value())
                .multiply(BigInteger.valueOf(samples))
                .add(BigInteger.valueOf(base.value()));
        return whole.isZero() ? Integer.MAX_VALUE : ratio(part, whole, ONE);
    }

    private static int ratio(MemoryBytes part, MemoryBytes whole, BigInteger one) {
        if (part.value() <= Long.MAX_VALUE / Share.ONE_IN_BASIS_POINTS) {
            long ratio = part.value() * one.longValueExact() / whole.value();
            return (int) Math.min(ratio, Integer.MAX_VALUE);
        }
        return ratio(BigInteger.valueOf(part.value()), whole, one);
    }

    private static int ratio(BigInteger part, MemoryBytes whole, BigInteger one) {
        return part.multiply(one)
                .divide(BigInteger.valueOf(whole.value()))
                .min(MOST)
                .intValueExact();
    }

    /** For people, in whole percent. */
    static String shown(int basisPoints) {
        return basisPoints / 100 + " %";
    }
}
