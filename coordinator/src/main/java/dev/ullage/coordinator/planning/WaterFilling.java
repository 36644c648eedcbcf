package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import java.math.BigInteger;
import java.util.List;

/**
 * Weighted max-min fairness over requests, exact in bytes: each part is {@code min(request, floor(level x weight))}
 * with the highest level at which the parts fit into the pool. So nobody gets more than it asks for, nobody can get
 * more without somebody gets less who has no more for its weight, and less than a byte for each request is left over.
 */
final class WaterFilling {
    private WaterFilling() {}

    /** @param weight 1 or more */
    record Request(MemoryBytes amount, int weight) {}

    /** The parts, in the order of the requests. */
    static List<MemoryBytes> fill(List<Request> requests, MemoryBytes pool) {
        Level level = level(requests, pool);
        return requests.stream().map(level::part).toList();
    }

    /**
     * What one unit of weight gets, as the fraction {@code amount / weights}; {@code isFull}: whatever is asked for.
     */
    private record Level(boolean isFull, BigInteger amount, BigInteger weights) {
        MemoryBytes part(Request request) {
            if (isFull || fits(request)) {
                return request.amount();
            }
            return MemoryBytes.of(amount.multiply(BigInteger.valueOf(request.weight()))
                    .divide(weights)
                    .longValueExact());
        }

        boolean fits(Request request) {
            return weighted(request).compareTo(amount.multiply(BigInteger.valueOf(request.weight()))) <= 0;
        }

        private BigInteger weighted(Request request) {
            return BigInteger.valueOf(request.amount().value()).multiply(weights);
        }

        Level without(Request request) {
            return new Level(
                    false,
                    amount.subtract(BigInteger.valueOf(request.amount().value())),
                    weights.subtract(BigInteger.valueOf(request.weight())));
        }
    }

    /** Serves those first that ask for least for their weight; what they leave raises the level of the others. */
    private static Level level(List<Request> requests, MemoryBytes pool) {
        long weights = requests.stream().mapToLong(Request::weight).sum();
        Level level = new Level(false, BigInteger.valueOf(pool.value()), BigInteger.valueOf(weights));
        for (Request request : requests.stream().sorted(WaterFilling::crosswise).toList()) {
            if (!level.fits(request)) {
                return level;
            }
            level = level.without(request);
        }
        return new Level(true, BigInteger.ZERO, BigInteger.ONE);
    }

    /** Compares {@code amount / weight} without dividing. */
    private static int crosswise(Request left, Request right) {
        return BigInteger.valueOf(left.amount().value())
                .multiply(BigInteger.valueOf(right.weight()))
                .compareTo(BigInteger.valueOf(right.amount().value()).multiply(BigInteger.valueOf(left.weight())));
    }
}
