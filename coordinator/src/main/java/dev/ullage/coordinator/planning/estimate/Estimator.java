package dev.ullage.coordinator.planning.estimate;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.estimate.RankEstimate.PhasePoint;
import dev.ullage.coordinator.planning.estimate.RankEstimate.Range;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/** From a setup to bytes per stage, with an interval. */
public final class Estimator {
    /** Room above the point for what state, and for what all else, has been seen to exceed the formulas by. */
    private static final double STATE_ROOM = 1.1;

    private static final double WORKING_ROOM = 1.3;

    /** A complete configuration's upper end is never further above the point than this. */
    private static final double MOST_ROOM = 1.15;

    private static final double LEAST_ROOM = 1.13;
    private static final double BELOW = 0.9;

    private Estimator() {}

    /**
     * @param reading what is known; where a field is missing, its alternatives widen the interval and never move the
     *     point
     */
    public static List<RankEstimate> estimate(Reading reading) {
        List<RankEstimate> stages = new ArrayList<>();
        Setup likely = reading.likely();
        for (int stage = 0; stage < likely.layout().pipeline(); stage++) {
            Terms terms = terms(likely, stage);
            List<Terms> all = new ArrayList<>(List.of(terms));
            for (Setup alternative : reading.alternatives()) {
                all.add(terms(alternative, stage));
            }
            stages.add(rank(likely, stage, terms, all));
        }
        return List.copyOf(stages);
    }

    /** The range of an amount over all alternatives. */
    private static Range range(List<Terms> all, Function<Terms, Map<Part, Double>> parts) {
        double lower = Double.MAX_VALUE;
        double upper = 0;
        for (Terms terms : all) {
            Map<Part, Double> amounts = parts.apply(terms);
            lower = Math.min(lower, BELOW * Terms.sum(amounts));
            upper = Math.max(upper, upper(Terms.sum(amounts), Terms.state(amounts)));
        }
        return new Range(bytes(lower), bytes(upper));
    }

    /**
     * Of what later iterations hold on top of the first: not below what makes the upper end of the first backward pass
     * that of every later iteration, for a range of a sum is not the sum of ranges.
     */
    private static Range laterState(List<Terms> all, Map<PhasePoint, Range> ranges) {
        Range state = range(all, other -> Map.of(Part.OPTIMIZER, other.get(Part.OPTIMIZER)));
        MemoryBytes steady = upper(ranges, PhasePoint.STEADY);
        return new Range(state.lower(), state.upper().max(steady.minusOrZero(upper(ranges, PhasePoint.BACKWARD))));
    }

    private static MemoryBytes upper(Map<PhasePoint, Range> ranges, PhasePoint point) {
        return Objects.requireNonNull(ranges.get(point)).upper();
    }

    /** The fullest moment of any iteration. */
    private static Range peakRange(List<Terms> all) {
        double lower = Double.MAX_VALUE;
        double upper = 0;
        for (Terms terms : all) {
            lower = Math.min(lower, BELOW * terms.peak());
            upper = Math.max(upper, upper(terms.peak(), terms.state()));
        }
        return new Range(bytes(lower), bytes(upper));
    }

    static Terms terms(Setup setup, int stage) {
        StageParameters parameters = StageParameters.of(setup, stage);
        return Recipe.of(setup.framework()).complete(setup, stage, parameters, ModelState.of(setup, parameters));
    }

    private static double upper(double peak, double allState) {
        double state = Math.min(peak, allState);
        double wide = STATE_ROOM * state + WORKING_ROOM * (peak - state);
        return Math.min(MOST_ROOM * peak, Math.max(LEAST_ROOM * peak, wide));
    }

    /** @param all those of the likely setup and of its alternatives */
    private static RankEstimate rank(Setup setup, int stage, Terms terms, List<Terms> all) {
        Layout layout = setup.layout();
        EnumMap<PhasePoint, Map<Part, MemoryBytes>> phases = new EnumMap<>(PhasePoint.class);
        EnumMap<PhasePoint, Range> ranges = new EnumMap<>(PhasePoint.class);
        for (PhasePoint point : PhasePoint.values()) {
            phases.put(point, bytes(terms.at(point)));
            ranges.put(point, range(all, other -> other.at(point)));
        }
        Range peak = peakRange(all);
        double host = ModelState.hostBytes(setup, StageParameters.of(setup, stage));
        return new RankEstimate(
                stage,
                layout.worldSize() / layout.pipeline(),
                Collections.unmodifiableMap(phases),
                bytes(terms.bytes()),
                bytes(terms.peak()),
                peak.lower(),
                peak.upper(),
                Collections.unmodifiableMap(ranges),
                laterState(all, ranges),
                bytes(host),
                List.copyOf(layout.layersOf(stage)));
    }

    private static Map<Part, MemoryBytes> bytes(Map<Part, Double> amounts) {
        EnumMap<Part, MemoryBytes> whole = new EnumMap<>(Part.class);
        amounts.forEach((part, amount) -> whole.put(part, bytes(amount)));
        return Collections.unmodifiableMap(whole);
    }

    private static MemoryBytes bytes(double amount) {
        return MemoryBytes.of((long) Math.max(0, amount));
    }
}
