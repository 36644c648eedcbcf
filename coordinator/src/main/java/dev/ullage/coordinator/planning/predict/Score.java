package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.MemoryBytes;
import java.util.Arrays;

/**
 * How good predictions were. The share of steps that were too low, the room, and the shortfall must be judged together:
 * any one of them alone is easily bought with another.
 *
 * @param steps that were predicted, 1 or more
 * @param underPercent of the steps used more than their limit
 * @param roomPercent mean of {@code limit / use - 1} over the steps that used at least 1 GiB; a miss counts as negative
 *     room. NaN when there is no such step.
 * @param roomOfSumsPercent {@code sum of limits / sum of use - 1}; NaN when nothing was used
 * @param p99ShortfallGib the 99th percentile over all steps of how much was missing, in GiB
 * @param rmseGib root of the mean square of the forecasts' errors, in GiB
 * @param maeGib mean size of the forecasts' errors, in GiB
 * @param accuracyPercent {@code 1 - mean(|error| / use)} of the forecasts, over the steps that used at least 1 GiB
 */
public record Score(
        long steps,
        double underPercent,
        double roomPercent,
        double roomOfSumsPercent,
        double p99ShortfallGib,
        double rmseGib,
        double maeGib,
        double accuracyPercent) {

    /** Adds up single steps; several series may go into one. */
    public static final class Tally {
        private long steps;
        private long under;
        private long sized;
        private double room;
        private double limits;
        private double uses;
        private double squares;
        private double errors;
        private double relativeErrors;
        private double[] shortfalls = new double[64];

        public void add(MemoryBytes used, Prediction prediction) {
            double use = gib(used);
            double limit = gib(prediction.limit());
            double error = Math.abs(gib(prediction.forecast()) - use);
            steps++;
            limits += limit;
            uses += use;
            squares += error * error;
            errors += error;
            if (use >= 1) {
                sized++;
                room += limit / use - 1;
                relativeErrors += error / use;
            }
            if (used.isMoreThan(prediction.limit())) {
                under(gib(used.minus(prediction.limit())));
            }
        }

        private void under(double shortfall) {
            if (under == shortfalls.length) {
                shortfalls = Arrays.copyOf(shortfalls, shortfalls.length * 2);
            }
            shortfalls[(int) under++] = shortfall;
        }

        public boolean isEmpty() {
            return steps == 0;
        }

        /** There is at least one step. */
        public Score score() {
            if (isEmpty()) {
                throw new IllegalStateException("no step was predicted");
            }
            return new Score(
                    steps,
                    100.0 * under / steps,
                    100 * room / sized,
                    100 * (limits / uses - 1),
                    shortfallAt(.99),
                    Math.sqrt(squares / steps),
                    errors / steps,
                    100 * (1 - relativeErrors / sized));
        }

        /** Between two of the sorted shortfalls in proportion; most of them are zero and not kept. */
        private double shortfallAt(double quantile) {
            double[] sorted = Arrays.copyOf(shortfalls, (int) under);
            Arrays.sort(sorted);
            double place = quantile * (steps - 1);
            long low = (long) place;
            double first = shortfall(sorted, low);
            return first + (place - low) * (shortfall(sorted, Math.min(low + 1, steps - 1)) - first);
        }

        private double shortfall(double[] sorted, long rank) {
            long place = rank - (steps - sorted.length);
            return place < 0 ? 0 : sorted[(int) place];
        }

        private static double gib(MemoryBytes amount) {
            return amount.value() / (double) MemoryBytes.GIBIBYTE;
        }
    }
}
