package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.MemoryBytes;
import java.util.Optional;

/**
 * Puts a price on a miss, and takes the cheapest limit: for candidates {@code C} it minimises {@code C/reference + miss
 * price x P(miss) + shortfall price x E[shortfall]/reference}. The reference is the mean of the levels the series went
 * to, at least 1 GiB.
 *
 * <p>After a step that changed nothing (<em>idle</em>) the next one seldom changes anything either: the limit is the
 * last value and a little. After a change (<em>active</em>) the next level scatters widely: room is spent there. What
 * it will be is told by the earlier changes from a like level ({@link LevelChanges}), the nearer and newer the more.
 *
 * <p>Doubles choose between candidates; a candidate itself is whole bytes.
 */
public final class Priced implements DemandPredictor {
    private static final double GIBIBYTE = MemoryBytes.GIBIBYTE;

    /** Room over the last value that is a candidate, in basis points. */
    private static final int[] ROOM_OVER_LAST = {0, 100, 200, 300, 500, 800, 1_200, 2_000, 3_000};

    private static final int ROOM_OVER_LEVEL = 100;

    /** How many changes are followed by another: it decides what an active step costs. */
    private static final double CHANGES_AGAIN = .87;

    private static final double LEVEL_WIDTH = .15;
    private static final double EVERY_LEVEL = .02;
    private static final double OTHER_DIRECTION = .35;
    private static final double AGEING = .99;
    private static final double UNSEEN_LEVELS = .5;
    private static final double UNSEEN_HEIGHT = .08;
    private static final double OF_KERNEL_MEAN = .7;

    private final Settings settings;
    private final LevelChanges changes;
    private final IdleRises rises = new IdleRises();
    private Optional<MemoryBytes> before = Optional.empty();
    private int direction;
    private int idleSteps;

    /**
     * @param missPrice what a miss costs, in limits of the reference's size: 0 to 1,000. More means more room.
     * @param shortfallPrice what a shortfall of the reference's size costs: 0 to 1,000
     * @param changes that are remembered, 1 to 10,000
     */
    public record Settings(double missPrice, double shortfallPrice, int changes) {
        /** Tuned on half of the public series of docs/prediction.md. */
        public static final Settings DEFAULTS = new Settings(1.9, 3, 256);

        public Settings {
            if (!(missPrice >= 0 && missPrice <= 1_000 && shortfallPrice >= 0 && shortfallPrice <= 1_000)) {
                throw new IllegalArgumentException(
                        "prices of %s for a miss and %s for a shortfall: they must be 0 to 1000"
                                .formatted(missPrice, shortfallPrice));
            }
            if (changes < 1 || changes > 10_000) {
                throw new IllegalArgumentException(changes + " changes to remember: there must be 1 to 10000");
            }
        }

        public Settings withMissPrice(double price) {
            return new Settings(price, shortfallPrice, changes);
        }
    }

    public Priced(Settings settings) {
        this.settings = settings;
        changes = new LevelChanges(settings.changes());
    }

    @Override
    public Prediction observe(MemoryBytes used) {
        before.ifPresent(known -> learn(known.value(), used.value()));
        before = Optional.of(used);
        return idleSteps > 0 || changes.size() == 0 ? idle(used) : active(used.value());
    }

    private void learn(long last, long now) {
        if (idleSteps > 0) {
            rises.observe(idleSteps, last, now);
        }
        if (now == last) {
            idleSteps++;
            return;
        }
        changes.add(now, last, direction);
        direction = now > last ? 1 : -1;
        idleSteps = 0;
    }

    private double reference(long last) {
        return Math.max(GIBIBYTE, changes.size() == 0 ? last : changes.mean());
    }

    private Prediction idle(MemoryBytes last) {
        double hazard = rises.hazard(Math.max(1, idleSteps));
        double height = rises.height();
        double reference = reference(last.value());
        long best = last.value();
        double least = Double.POSITIVE_INFINITY;
        for (int room : ROOM_OVER_LAST) {
            long candidate = Room.over(last.value(), room);
            double over = last.isZero() ? 0 : candidate / (double) last.value() - 1;
            double cost = candidate / reference + settings.missPrice() * hazard * Math.exp(-over / height);
            if (cost < least) {
                least = cost;
                best = candidate;
            }
        }
        return new Prediction(MemoryBytes.of(best), last);
    }

    private Prediction active(long last) {
        double[] weights = weights(last);
        long[] levels = changes.values();
        double sum = 0;
        double mean = 0;
        for (int i = 0; i < weights.length; i++) {
            sum += weights[i];
            mean += weights[i] * levels[i];
        }
        Scene scene = new Scene(last, levels, weights, sum + UNSEEN_LEVELS);
        long best = last;
        double least = Double.POSITIVE_INFINITY;
        for (int i = 0; i < ROOM_OVER_LAST.length + weights.length; i++) {
            long candidate = i < ROOM_OVER_LAST.length
                    ? Room.over(last, ROOM_OVER_LAST[i])
                    : Room.over(levels[i - ROOM_OVER_LAST.length], ROOM_OVER_LEVEL);
            // What it costs by itself is often too much already: the sums over all changes are the dear part.
            double cost = candidate / scene.reference < least ? scene.cost(candidate) : least;
            if (cost < least) {
                least = cost;
                best = candidate;
            }
        }
        double forecast = (1 - OF_KERNEL_MEAN) * last + OF_KERNEL_MEAN * mean / sum;
        return new Prediction(MemoryBytes.of(best), MemoryBytes.of((long) forecast));
    }

    /** How much each earlier change says about what follows the one that just was. */
    private double[] weights(long last) {
        double width = LEVEL_WIDTH * (last + GIBIBYTE / 2);
        double[] weights = new double[changes.size()];
        double age = 1;
        for (int i = 0; i < weights.length; i++) {
            double near = Math.exp(-Math.abs((double) changes.predecessor(i) - last) / width);
            weights[i] = (near + EVERY_LEVEL) * (changes.direction(i) == direction ? 1 : OTHER_DIRECTION) * age;
            age *= AGEING;
        }
        return weights;
    }

    /** What every candidate of one active step is measured by. */
    private final class Scene {
        private final long last;
        private final long[] levels;
        private final double[] weights;
        private final double sum;
        private final long max = changes.max();
        private final double reference;

        /** @param sum of the weights, with that of the levels never seen */
        Scene(long last, long[] levels, double[] weights, double sum) {
            this.last = last;
            this.levels = levels;
            this.weights = weights;
            this.sum = sum;
            reference = reference(last);
        }

        double cost(long candidate) {
            double missed = 0;
            double shortfall = 0;
            for (int i = 0; i < weights.length; i++) {
                double level = levels[i];
                if (level * 1.01 <= candidate) {
                    continue;
                }
                missed += weights[i] * Math.min(1, (level * 1.01 - candidate) / (.02 * Math.max(1, level)));
                shortfall += weights[i] * Math.max(0, level - candidate);
            }
            double unseen = candidate <= max ? 1 : Math.exp(-(candidate / (double) max - 1) / UNSEEN_HEIGHT);
            double miss = CHANGES_AGAIN * (missed + UNSEEN_LEVELS * unseen) / sum
                    + (candidate < last ? 1 - CHANGES_AGAIN : 0);
            return candidate / reference
                    + settings.missPrice() * miss
                    + settings.shortfallPrice() * CHANGES_AGAIN * shortfall / sum / reference;
        }
    }
}
