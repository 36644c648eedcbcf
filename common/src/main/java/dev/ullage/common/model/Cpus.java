package dev.ullage.common.model;

import java.math.BigDecimal;

/** Processor time in thousandths of a core, as people write it and read it: {@code 8}, {@code 0.5}. */
public final class Cpus {
    /** The most that anybody may speak of, in cores. */
    public static final int MAX = 100_000;

    private static final int MILLI_DIGITS = 3;
    private static final int MILLI = 1000;

    private Cpus() {}

    /**
     * Thousandths of a core.
     *
     * @throws IllegalArgumentException with the rule, when the text is no such number or has a finer fraction
     */
    public static int parse(String text) {
        try {
            int milli =
                    new BigDecimal(text.strip()).movePointRight(MILLI_DIGITS).intValueExact();
            if (milli > 0 && milli <= MAX * MILLI) {
                return milli;
            }
        } catch (ArithmeticException | NumberFormatException e) {
            // Said below.
        }
        throw new IllegalArgumentException("must be a number of cores from 0.001 to " + MAX);
    }

    /** As in {@code 1 cpu}, {@code 0.5 cpus}. */
    public static String counted(long milli) {
        return text(milli) + (milli == MILLI ? " cpu" : " cpus");
    }

    /** In cores, without a fraction that is none. */
    public static String text(long milli) {
        return BigDecimal.valueOf(milli, MILLI_DIGITS).stripTrailingZeros().toPlainString();
    }
}
