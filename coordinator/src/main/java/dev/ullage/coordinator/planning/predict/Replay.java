package dev.ullage.coordinator.planning.predict;

import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.Optional;

/**
 * Shows a recorded series to a predictor step by step and adds up how good it was: nothing is predicted from what comes
 * later.
 *
 * @param warmUp values that a predictor sees first and that do not count, 1 or more
 * @param horizon steps that each limit and forecast is held for, 1 or more
 */
public record Replay(int warmUp, int horizon) {
    public Replay {
        if (warmUp < 1 || horizon < 1) {
            throw new IllegalArgumentException(
                    "a warm-up of %d and a horizon of %d: each must be 1 or more".formatted(warmUp, horizon));
        }
    }

    /** @param tallies each is given every step */
    public void run(List<MemoryBytes> series, DemandPredictor predictor, List<Score.Tally> tallies) {
        Optional<Prediction> held = Optional.empty();
        for (int i = 0; i < series.size(); i++) {
            MemoryBytes used = series.get(i);
            if (i >= warmUp) {
                held.ifPresent(prediction -> tallies.forEach(tally -> tally.add(used, prediction)));
            }
            Prediction newest = predictor.observe(used);
            if (i < warmUp || (i - warmUp + 1) % horizon == 0) {
                held = Optional.of(newest);
            }
        }
    }
}
