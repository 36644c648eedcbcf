package dev.ullage.coordinator.planning.estimate;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.estimate.RankEstimate.PhasePoint;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

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
            double lower = BELOW * terms.peak();
            double upper = upper(terms);
            for (Setup alternative : reading.alternatives()) {
                Terms other = terms(alternative, stage);
                lower = Math.min(lower, BELOW * other.peak());
                upper = Math.max(upper, upper(other));
            }
            stages.add(rank(likely, stage, terms, lower, upper));
        }
        return List.copyOf(stages);
    }

    static Terms terms(Setup setup, int stage) {
        StageParameters parameters = StageParameters.of(setup, stage);
        return Recipe.of(setup.framework()).complete(setup, stage, parameters, ModelState.of(setup, parameters));
    }

    private static double upper(Terms terms) {
        double peak = terms.peak();
        double state = Math.min(peak, terms.state());
        double wide = STATE_ROOM * state + WORKING_ROOM * (peak - state);
        return Math.min(MOST_ROOM * peak, Math.max(LEAST_ROOM * peak, wide));
    }

    private static RankEstimate rank(Setup setup, int stage, Terms terms, double lower, double upper) {
        Layout layout = setup.layout();
        EnumMap<PhasePoint, Map<Part, MemoryBytes>> phases = new EnumMap<>(PhasePoint.class);
        for (PhasePoint point : PhasePoint.values()) {
            phases.put(point, bytes(terms.at(point)));
        }
        double host = ModelState.hostBytes(setup, StageParameters.of(setup, stage));
        return new RankEstimate(
                stage,
                layout.worldSize() / layout.pipeline(),
                Collections.unmodifiableMap(phases),
                bytes(terms.bytes()),
                bytes(terms.peak()),
                bytes(lower),
                bytes(upper),
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
