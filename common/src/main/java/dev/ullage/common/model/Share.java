package dev.ullage.common.model;

/**
 * A share of something, in whole basis points (1/10,000), so that no {@code double} ever enters a limit.
 *
 * @param basisPoints 0 (nothing) to 10,000 (all of it)
 */
public record Share(int basisPoints) implements Comparable<Share> {
    public static final int ONE_IN_BASIS_POINTS = 10_000;
    public static final Share NONE = new Share(0);
    public static final Share ALL = new Share(ONE_IN_BASIS_POINTS);

    public Share {
        if (basisPoints < 0 || basisPoints > ONE_IN_BASIS_POINTS) {
            throw new IllegalArgumentException("a share must be 0 to 10000 basis points: " + basisPoints);
        }
    }

    public static Share ofPercent(int percent) {
        return new Share(Math.multiplyExact(percent, 100));
    }

    /** What is left of the whole when this share of it is gone. */
    public Share complement() {
        return new Share(ONE_IN_BASIS_POINTS - basisPoints);
    }

    @Override
    public int compareTo(Share other) {
        return Integer.compare(basisPoints, other.basisPoints);
    }

    /** For people: {@code 20%}, {@code 12.5%}. */
    @Override
    public String toString() {
        int whole = basisPoints / 100;
        int rest = basisPoints % 100;
        if (rest == 0) {
            return whole + "%";
        }
        return rest % 10 == 0 ? whole + "." + rest / 10 + "%" : whole + "." + (rest < 10 ? "0" : "") + rest + "%";
    }
}
