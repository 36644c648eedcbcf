package dev.ullage.coordinator.simulation;

import dev.ullage.coordinator.planning.balance.PolicyKind;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** What one policy made of one workload, once for each seed. */
public record PolicyResult(String workload, PolicyKind policy, List<AllocationCurve> curves) {
    public PolicyResult {
        curves = List.copyOf(curves);
    }

    /** Devices in use in percent of all, when this percent of the capacity had been asked for. */
    public Spread allocated(int percent) {
        return over(curve -> curve.allocated()[percent]);
    }

    /** Stranded devices in percent of all. */
    public Spread stranded(int percent) {
        return over(curve -> curve.stranded()[percent]);
    }

    /** Stranded devices in percent of the idle ones. */
    public Spread strandedOfIdle(int percent) {
        return over(curve -> curve.strandedOfIdle(percent));
    }

    public Spread over(ToDoubleFunction<AllocationCurve> figure) {
        return Spread.of(curves.stream().mapToDouble(figure).toArray());
    }
}
