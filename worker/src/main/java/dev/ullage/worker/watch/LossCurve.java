package dev.ullage.worker.watch;

import dev.ullage.common.model.RankAccount.LossPoint;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * A loss over all steps in at most {@value #MOST} points: when there is one more, neighbours become one point, their
 * mean at the later step. So the curve spans the whole training however long it is. Not thread safe.
 */
final class LossCurve {
    static final int MOST = 64;

    /** A point, and of how many values it is the mean. */
    private record Weighted(long step, long billionths, long weight) {
        Weighted with(Weighted later) {
            BigInteger sum = product(billionths, weight).add(product(later.billionths, later.weight));
            long both = weight + later.weight;
            return new Weighted(later.step, sum.divide(BigInteger.valueOf(both)).longValueExact(), both);
        }

        private static BigInteger product(long left, long right) {
            return BigInteger.valueOf(left).multiply(BigInteger.valueOf(right));
        }
    }

    private final List<Weighted> points = new ArrayList<>();

    void add(long step, long billionths) {
        points.add(new Weighted(step, billionths, 1));
        if (points.size() > MOST) {
            List<Weighted> halved = new ArrayList<>();
            for (int i = 0; i + 1 < points.size(); i += 2) {
                halved.add(points.get(i).with(points.get(i + 1)));
            }
            if (points.size() % 2 == 1) {
                halved.add(points.get(points.size() - 1));
            }
            points.clear();
            points.addAll(halved);
        }
    }

    void clear() {
        points.clear();
    }

    List<LossPoint> points() {
        return points.stream()
                .map(point -> new LossPoint(point.step(), point.billionths()))
                .toList();
    }
}
