package dev.ullage.common.model;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.regex.Pattern;

/**
 * A positive factor in whole basis points (1/10,000), so that no {@code double} ever enters a limit. Unlike a
 * {@link Share} it may be more than one.
 *
 * @param basisPoints 1 (0.0001) to 1,000,000 (100)
 */
public record Weight(int basisPoints) {
    public static final int MAX_BASIS_POINTS = 1_000_000;

    private static final Pattern FORM = Pattern.compile("\\d{1,9}(\\.\\d{1,9})?");
    private static final BigInteger ONE = BigInteger.valueOf(Share.ONE_IN_BASIS_POINTS);

    public Weight {
        if (basisPoints < 1 || basisPoints > MAX_BASIS_POINTS) {
            throw new IllegalArgumentException("a weight must be 0.0001 to 100: " + basisPoints + " basis points");
        }
    }

    /** The weight that {@code text} names, as in {@code 1.5}; one finer than a basis point is refused, not rounded. */
    public static Weight parse(String text) {
        String number = text.strip();
        if (!FORM.matcher(number).matches()) {
            throw new IllegalArgumentException("weight " + Names.quoted(text) + " is not a number such as 1.5");
        }
        BigDecimal basisPoints = new BigDecimal(number).movePointRight(4).stripTrailingZeros();
        if (basisPoints.scale() > 0) {
            throw new IllegalArgumentException("weight " + Names.quoted(text) + " is finer than 0.0001");
        }
        if (basisPoints.signum() == 0 || basisPoints.compareTo(BigDecimal.valueOf(MAX_BASIS_POINTS)) > 0) {
            throw new IllegalArgumentException("weight " + Names.quoted(text) + " is not 0.0001 to 100");
        }
        return new Weight(basisPoints.intValueExact());
    }

    /** {@code floor(amount x weight)}; throws {@link ArithmeticException} on overflow. */
    public MemoryBytes of(MemoryBytes amount) {
        return MemoryBytes.of(BigInteger.valueOf(amount.value())
                .multiply(BigInteger.valueOf(basisPoints))
                .divide(ONE)
                .longValueExact());
    }

    /** For people: {@code 1.5}. */
    @Override
    public String toString() {
        return BigDecimal.valueOf(basisPoints, 4).stripTrailingZeros().toPlainString();
    }
}
