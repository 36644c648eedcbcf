package dev.ullage.coordinator.simulation;

import java.util.List;
import java.util.function.ToDoubleFunction;

/** What one way of sharing made of one workload at one load, once for each seed. */
public record LoadResult(String workload, SharingMode mode, double load, List<LoadOutcome> outcomes) {
    public LoadResult {
        outcomes = List.copyOf(outcomes);
    }

    public Spread over(ToDoubleFunction<LoadOutcome> figure) {
        return Spread.of(outcomes.stream().mapToDouble(figure).toArray());
    }
}
