package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.MemoryBytes;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * A limit that must hold for several steps: a price on each step that is missed, as {@link Priced} has for one, over
 * what the series did in the steps after it had been where it is now.
 *
 * <p>Each of the last {@value #REMEMBERED} moments is like the present one by its level, by whether the value had just
 * changed, and by how long ago it was; the values of the steps after it, as many as the limit is to hold, are what may
 * come now, each a little higher than it was. For candidates {@code C} the cost is {@code C/reference + miss price x
 * P(miss in a step) + shortfall price x E[shortfall]/reference}, the reference the mean of what is remembered, at least
 * 1 GiB.
 *
 * <p>Doubles choose between candidates; a candidate itself is whole bytes.
 */
public final class Held implements DemandPredictor {
    static final int REMEMBERED = 512;

    private static final double GIBIBYTE = MemoryBytes.GIBIBYTE;
    private static final int[] ROOM_OVER_LAST = {0, 100, 200, 300, 500, 800, 1_200, 2_000, 3_000};
    private static final int ROOM_OVER_VALUE = 100;
    /** A level that comes again is seldom the same to the byte. */
    private static final int DRIFT = 200;

    private static final double LEVEL_WIDTH = .15;
    private static final double EVERY_LEVEL = .02;
    private static final double OTHER_STATE = .35;
    private static final double AGEING = .995;
    private static final double UNSEEN = .5;
    private static final double UNSEEN_HEIGHT = .08;
    private static final double SHORTFALL_PRICE = 15;
    private static final double OF_MEAN = .7;
    /** So many of the steps to come stand for all of them. */
    private static final int SAMPLED_STEPS = 8;

    private final double missPrice;
    private final int[] ahead;
    /** The oldest first; what is remembered is at its end. */
    private final long[] values = new long[2 * REMEMBERED];

    private int size;

    /**
     * @param steps that a limit is to hold, 1 to 1,000
     * @param missPrice what a missed step costs, in limits of the reference's size: 0 to 1,000. More means more room.
     */
    public record Settings(int steps, double missPrice) {
        /** Tuned on half of the public series of docs/prediction.md. */
        public static final double DEFAULT_PRICE = 3;

        public Settings {
            if (steps < 1 || steps > 1_000) {
                throw new IllegalArgumentException("a limit holds for 1 to 1000 steps: " + steps);
            }
            if (!(missPrice >= 0 && missPrice <= 1_000)) {
                throw new IllegalArgumentException("a price of " + missPrice + " for a miss: it must be 0 to 1000");
            }
        }
    }

    public Held(Settings settings) {
        missPrice = settings.missPrice();
        int sampled = Math.min(settings.steps(), SAMPLED_STEPS);
        ahead = IntStream.range(0, sampled)
                .map(i -> sampled == 1 ? 1 : (int) Math.rint(1 + i * (settings.steps() - 1) / (double) (sampled - 1)))
                .distinct()
                .toArray();
    }

    @Override
    public Prediction observe(MemoryBytes used) {
        if (size == values.length) {
            System.arraycopy(values, REMEMBERED, values, 0, REMEMBERED);
            size = REMEMBERED;
        }
        values[size++] = used.value();
        Ahead known = ahead();
        if (known.isEmpty()) {
            return new Prediction(used, used);
        }
        double forecast = isIdle(size - 1) ? used.value() : (1 - OF_MEAN) * used.value() + OF_MEAN * known.mean();
        return new Prediction(MemoryBytes.of(cheapest(known, used.value())), MemoryBytes.of((long) forecast));
    }

    private boolean isIdle(int at) {
        return at > 0 && values[at] == values[at - 1];
    }

    /** What may come in the steps ahead, the smallest first, with how likely each is. */
    private Ahead ahead() {
        int now = size - 1;
        int first = Math.max(0, now - REMEMBERED);
        boolean isIdle = isIdle(now);
        double width = LEVEL_WIDTH * (values[now] + GIBIBYTE / 2);
        double[] likeness = new double[now - first];
        double age = AGEING;
        for (int i = likeness.length - 1; i >= 0; i--) {
            double near = Math.exp(-Math.abs((double) values[first + i] - values[now]) / width);
            likeness[i] = (near + EVERY_LEVEL) * (isIdle(first + i) == isIdle ? 1 : OTHER_STATE) * age;
            age *= AGEING;
        }
        long[] came = new long[likeness.length];
        double[] weights = new double[likeness.length];
        for (int i = 0; i < came.length; i++) {
            came[i] = values[first + 1 + i];
            for (int steps : ahead) {
                weights[i] += i + 1 >= steps ? likeness[i + 1 - steps] / ahead.length : 0;
            }
        }
        double mean =
                Arrays.stream(values, first, size).asDoubleStream().average().orElse(0);
        return new Ahead(came, weights, Math.max(GIBIBYTE, mean));
    }

    private long cheapest(Ahead known, long last) {
        long best = last;
        double least = Double.POSITIVE_INFINITY;
        for (int i = 0; i < ROOM_OVER_LAST.length + known.levels.length; i++) {
            long candidate = i < ROOM_OVER_LAST.length
                    ? Room.over(last, ROOM_OVER_LAST[i])
                    : Room.over(known.levels[i - ROOM_OVER_LAST.length], ROOM_OVER_VALUE);
            double cost = known.cost(candidate);
            if (cost < least) {
                least = cost;
                best = candidate;
            }
        }
        return best;
    }

    /** Values that may come, in order, and sums over those from each on. */
    private final class Ahead {
        private final long[] levels;
        /** Of the weights from a place on, and of the weighted levels. */
        private final double[] weightFrom;

        private final double[] levelFrom;
        private final double reference;

        Ahead(long[] came, double[] weights, double reference) {
            this.reference = reference;
            int[] order = IntStream.range(0, came.length)
                    .boxed()
                    .sorted(Comparator.comparingLong(i -> came[i]))
                    .mapToInt(Integer::intValue)
                    .toArray();
            levels = new long[came.length];
            weightFrom = new double[came.length + 1];
            levelFrom = new double[came.length + 1];
            for (int i = came.length - 1; i >= 0; i--) {
                levels[i] = Room.over(came[order[i]], DRIFT);
                double weight = weights[order[i]];
                weightFrom[i] = weightFrom[i + 1] + weight;
                levelFrom[i] = levelFrom[i + 1] + weight * levels[i];
            }
        }

        boolean isEmpty() {
            return levels.length == 0 || weightFrom[0] <= 0;
        }

        /** As high as they were, without the drift. */
        double mean() {
            return levelFrom[0] / weightFrom[0] / (1 + DRIFT / 10_000.0);
        }

        double cost(long candidate) {
            int above = above(candidate);
            double whole = weightFrom[0] + UNSEEN;
            long most = levels[levels.length - 1];
            double unseen = candidate <= most ? 1 : Math.exp(-(candidate / (double) most - 1) / UNSEEN_HEIGHT);
            double miss = (weightFrom[above] + UNSEEN * unseen) / whole;
            double shortfall = (levelFrom[above] - candidate * weightFrom[above]) / whole;
            return candidate / reference + missPrice * miss + SHORTFALL_PRICE * shortfall / reference;
        }

        /** The first place whose level is above the candidate. */
        private int above(long candidate) {
            int low = 0;
            int high = levels.length;
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (levels[middle] > candidate) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            return low;
        }
    }
}
