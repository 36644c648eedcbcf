package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.util.Optional;

/** The exponentially weighted mean, as the forecast and as the limit: a baseline, for as a limit it is too low. */
public final class MovingAverage implements DemandPredictor {
    private final Share weight;
    private Optional<MemoryBytes> mean = Optional.empty();

    /** @param weight of the newest value; more than zero */
    public MovingAverage(Share weight) {
        if (weight.basisPoints() == 0) {
            throw new IllegalArgumentException("the weight of the newest value must be more than 0");
        }
        this.weight = weight;
    }

    @Override
    public Prediction observe(MemoryBytes used) {
        MemoryBytes next = mean.map(before -> mixed(before, used)).orElse(used);
        mean = Optional.of(next);
        return new Prediction(next, next);
    }

    /** Rounded towards the newest value, so that the mean of equal values reaches them. */
    private MemoryBytes mixed(MemoryBytes before, MemoryBytes used) {
        return used.isMoreThan(before)
                ? used.minus(used.minus(before).times(weight.complement()))
                : used.plus(before.minus(used).times(weight.complement()));
    }
}
