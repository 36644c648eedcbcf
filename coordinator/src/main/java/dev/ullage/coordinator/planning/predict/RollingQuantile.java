package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;

/** A high quantile of the last values: the smallest of them that so large a share of them does not exceed. */
public final class RollingQuantile implements DemandPredictor {
    private final Share quantile;
    private final RecentValues recent;

    /** @param window steps that are looked at, 1 to 100,000 */
    public RollingQuantile(Share quantile, int window) {
        if (window < 1 || window > 100_000) {
            throw new IllegalArgumentException("a window of " + window + ": it must be 1 to 100000 steps");
        }
        this.quantile = quantile;
        recent = new RecentValues(window);
    }

    @Override
    public Prediction observe(MemoryBytes used) {
        recent.add(used.value());
        return new Prediction(MemoryBytes.of(recent.quantile(quantile.basisPoints())), used);
    }
}
