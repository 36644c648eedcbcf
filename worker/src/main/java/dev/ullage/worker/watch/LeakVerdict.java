package dev.ullage.worker.watch;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankWatch.Leak;
import dev.ullage.common.model.RankWatch.LeakState;
import dev.ullage.common.model.Share;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Whether memory leaks, from what was allocated at the same point of many steps. The cache does not count: it is
 * reserved, not allocated. A leak is suspected only when all three hold:
 *
 * <ul>
 *   <li>the points rise by more than chance: the Mann-Kendall test with its correction for ties (H. B. Mann,
 *       "Nonparametric tests against trend", Econometrica 13, 1945; R. O. Gilbert, "Statistical Methods for
 *       Environmental Pollution Monitoring", 1987, section 16.4), one-sided, p below 0.001;
 *   <li>the slope of Theil and Sen (P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA
 *       63, 1968), the median over all pairs, amounts to enough over the points to matter; outliers up to 29 % of the
 *       points, such as an evaluation now and then, do not move it;
 *   <li>the floor rises: the least of each quarter of the points is above that of the quarter before. What fills up and
 *       is emptied again comes back to its floor.
 * </ul>
 */
public final class LeakVerdict {
    static final int MIN_POINTS = 24;

    /** Less growth over all points than this is none. */
    static final long MIN_GROWTH_BYTES = 4 * MemoryBytes.MEBIBYTE;

    /** Nor is growth that is less than this part of what is allocated. */
    static final long MIN_GROWTH_PART = 500;

    private static final double MIN_Z = 3.09;
    private static final int QUARTERS = 4;

    private LeakVerdict() {}

    /** Allocated bytes at the end of a step. */
    public record Point(long step, long bytes) {}

    /** @param points in the order of their steps, which all differ */
    public static Leak of(List<Point> points) {
        if (points.size() < MIN_POINTS) {
            return new Leak(LeakState.UNKNOWN, OptionalLong.empty(), Optional.empty(), points.size());
        }
        double slope = slope(points);
        double growth =
                slope * (points.get(points.size() - 1).step() - points.get(0).step());
        long typical = median(points.stream().mapToLong(Point::bytes).toArray());
        double z = trend(points);
        if (z < MIN_Z
                || growth < MIN_GROWTH_BYTES
                || growth < (double) typical / MIN_GROWTH_PART
                || !floorRises(points)) {
            return new Leak(LeakState.NONE, OptionalLong.empty(), Optional.empty(), points.size());
        }
        int basisPoints = (int) Math.floor(normal(z) * Share.ONE_IN_BASIS_POINTS);
        return new Leak(
                LeakState.SUSPECTED,
                OptionalLong.of((long) slope),
                Optional.of(new Share(Math.min(basisPoints, Share.ONE_IN_BASIS_POINTS - 1))),
                points.size());
    }

    /** The median of the slopes of all pairs, bytes per step. */
    static double slope(List<Point> points) {
        int n = points.size();
        double[] slopes = new double[n * (n - 1) / 2];
        int at = 0;
        for (int i = 0; i < n; i++) {
            for (int j = i + 1; j < n; j++) {
                Point first = points.get(i);
                Point second = points.get(j);
                slopes[at++] = (double) (second.bytes() - first.bytes()) / (second.step() - first.step());
            }
        }
        Arrays.sort(slopes);
        int middle = slopes.length / 2;
        return slopes.length % 2 == 1 ? slopes[middle] : (slopes[middle - 1] + slopes[middle]) / 2;
    }

    /** The test's statistic: standard deviations above what points without a trend come to. */
    private static double trend(List<Point> points) {
        int n = points.size();
        long s = 0;
        for (int i = 0; i < n; i++) {
            for (int j = i + 1; j < n; j++) {
                s += Long.signum(points.get(j).bytes() - points.get(i).bytes());
            }
        }
        double variance = (spread(n) - ties(points)) / 18;
        return s <= 0 || variance <= 0 ? 0 : (s - 1) / Math.sqrt(variance);
    }

    private static double spread(double n) {
        return n * (n - 1) * (2 * n + 5);
    }

    private static double ties(List<Point> points) {
        long[] sorted = points.stream().mapToLong(Point::bytes).sorted().toArray();
        double ties = 0;
        int first = 0;
        for (int i = 1; i <= sorted.length; i++) {
            if (i == sorted.length || sorted[i] != sorted[first]) {
                ties += spread(i - first);
                first = i;
            }
        }
        return ties;
    }

    private static boolean floorRises(List<Point> points) {
        long before = Long.MIN_VALUE;
        for (int quarter = 0; quarter < QUARTERS; quarter++) {
            int from = points.size() * quarter / QUARTERS;
            int to = points.size() * (quarter + 1) / QUARTERS;
            long floor = points.subList(from, to).stream()
                    .mapToLong(Point::bytes)
                    .min()
                    .orElseThrow();
            if (floor <= before) {
                return false;
            }
            before = floor;
        }
        return true;
    }

    private static long median(long[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    /**
     * The standard normal distribution's function, to 7.5e-8: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical
     * Functions", 1964, 26.2.17; for 0 or more.
     */
    private static double normal(double z) {
        double t = 1 / (1 + 0.2316419 * z);
        double tail = t
                * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
                * Math.exp(-z * z / 2)
                / Math.sqrt(2 * Math.PI);
        return 1 - tail;
    }
}
