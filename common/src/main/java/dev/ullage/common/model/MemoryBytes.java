package dev.ullage.common.model;

import java.util.Locale;

/**
 * An amount of memory in whole bytes, zero or more. Every operation that cannot be exact rounds down; none ever rounds
 * up. An amount that is not known is an empty {@code Optional}, never a special value of this type.
 *
 * @param value bytes, 0 to {@code Long.MAX_VALUE}
 */
public record MemoryBytes(long value) implements Comparable<MemoryBytes> {
    public static final MemoryBytes ZERO = new MemoryBytes(0);
    public static final long MEBIBYTE = 1L << 20;
    public static final long GIBIBYTE = 1L << 30;
    /** Below it a quotient by a GiB is so exact that its tenths follow from whole numbers alone. */
    private static final long EXACT_TENTHS = 1L << 48;

    public MemoryBytes {
        if (value < 0) {
            throw new IllegalArgumentException("memory must not be negative: " + value + " bytes");
        }
    }

    public static MemoryBytes of(long bytes) {
        return bytes == 0 ? ZERO : new MemoryBytes(bytes);
    }

    public static MemoryBytes ofMebibytes(long mebibytes) {
        return of(Math.multiplyExact(mebibytes, MEBIBYTE));
    }

    public static MemoryBytes ofGibibytes(long gibibytes) {
        return of(Math.multiplyExact(gibibytes, GIBIBYTE));
    }

    /** The exact sum; throws {@link ArithmeticException} on overflow. */
    public MemoryBytes plus(MemoryBytes other) {
        return of(Math.addExact(value, other.value));
    }

    /** The exact difference; throws {@link ArithmeticException} when {@code other} is larger. */
    public MemoryBytes minus(MemoryBytes other) {
        if (other.value > value) {
            throw new ArithmeticException("cannot take " + other.value + " bytes from " + value);
        }
        return of(value - other.value);
    }

    /** The difference, or zero when {@code other} is larger: what is left of a budget, never a debt. */
    public MemoryBytes minusOrZero(MemoryBytes other) {
        return other.value >= value ? ZERO : of(value - other.value);
    }

    /** {@code floor(value x share)}. Exact for every value: the product is never formed as one number. */
    public MemoryBytes times(Share share) {
        long whole = value / Share.ONE_IN_BASIS_POINTS;
        long rest = value % Share.ONE_IN_BASIS_POINTS;
        return of(whole * share.basisPoints() + rest * share.basisPoints() / Share.ONE_IN_BASIS_POINTS);
    }

    /** {@code floor(value / parts)}; {@code parts} is 1 or more. */
    public MemoryBytes dividedBy(int parts) {
        if (parts < 1) {
            throw new IllegalArgumentException("cannot divide memory into " + Counts.of(parts, "part"));
        }
        return of(value / parts);
    }

    /** The nearest multiple of {@code granule} that is not smaller: only for amounts that reduce a budget. */
    public MemoryBytes roundedUpTo(MemoryBytes granule) {
        long rest = value % granule.value;
        return rest == 0 ? this : of(Math.addExact(value, granule.value - rest));
    }

    public MemoryBytes min(MemoryBytes other) {
        return value <= other.value ? this : other;
    }

    public MemoryBytes max(MemoryBytes other) {
        return value >= other.value ? this : other;
    }

    public boolean isMoreThan(MemoryBytes other) {
        return value > other.value;
    }

    public boolean isZero() {
        return value == 0;
    }

    @Override
    public int compareTo(MemoryBytes other) {
        return Long.compare(value, other.value);
    }

    /** For people: {@code 12.0 GiB}, {@code 512.0 MiB}, {@code 17 B}. Never parsed back, never used in a limit. */
    @Override
    public String toString() {
        if (value < MEBIBYTE) {
            return value + " B";
        }
        if (value >= EXACT_TENTHS) {
            return String.format(Locale.ROOT, "%.1f GiB", value / (double) GIBIBYTE);
        }
        return value >= GIBIBYTE ? tenths(GIBIBYTE) + " GiB" : tenths(MEBIBYTE) + " MiB";
    }

    /** What {@code %.1f} makes of it, half up: an explanation has several amounts, and a formatter takes a while. */
    private String tenths(long unit) {
        long tenths = value / unit * 10 + (value % unit * 10 + unit / 2) / unit;
        return tenths / 10 + "." + tenths % 10;
    }
}
