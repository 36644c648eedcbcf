package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.RankEstimate.PhasePoint;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * Bytes of a rank by {@link Part}, each at its fullest.
 *
 * @param gradientsFreed the gradients are freed before each forward pass, so that they and the activations take turns
 */
record Terms(Map<Part, Double> bytes, boolean gradientsFreed) {
    Terms {
        EnumMap<Part, Double> copy = new EnumMap<>(Part.class);
        copy.putAll(bytes);
        bytes = Collections.unmodifiableMap(copy);
    }

    static Terms none() {
        return new Terms(new EnumMap<>(Part.class), false);
    }

    Terms plus(Part part, double more) {
        EnumMap<Part, Double> sum = new EnumMap<>(Part.class);
        sum.putAll(bytes);
        sum.merge(part, more, Double::sum);
        return new Terms(sum, gradientsFreed);
    }

    Terms freeingGradients() {
        return new Terms(bytes, true);
    }

    double get(Part part) {
        return bytes.getOrDefault(part, 0.0);
    }

    /** What is there at {@code point}; its sum is the peak then. */
    Map<Part, Double> at(PhasePoint point) {
        return switch (point) {
            case INIT -> start();
            case FORWARD -> forward();
            case BACKWARD -> backward();
            case OPTIMIZER -> step();
            case STEADY -> steady();
        };
    }

    static double sum(Map<Part, Double> parts) {
        return parts.values().stream().mapToDouble(Double::doubleValue).sum();
    }

    double peak() {
        return Math.max(sum(steady()), firstPeak());
    }

    double firstPeak() {
        return Math.max(sum(step()), Math.max(sum(forward()), sum(backward())));
    }

    private EnumMap<Part, Double> of(Part... parts) {
        EnumMap<Part, Double> some = new EnumMap<>(Part.class);
        for (Part part : parts) {
            some.put(part, get(part));
        }
        return some;
    }

    private EnumMap<Part, Double> start() {
        return gradientsFreed
                ? of(Part.WEIGHTS, Part.MASTER, Part.CONTEXT)
                : of(Part.WEIGHTS, Part.MASTER, Part.GRADIENTS, Part.CONTEXT);
    }

    /** The gradient of the logits, about a third of what the loss holds, is not there yet. */
    private EnumMap<Part, Double> forward() {
        EnumMap<Part, Double> parts = whileWorking();
        parts.merge(Part.LOGITS, 2.0 / 3, (all, share) -> all * share);
        return parts;
    }

    /** When gradients are freed: they grow as activations shrink, so the larger of the two counts. */
    private EnumMap<Part, Double> backward() {
        if (gradientsFreed && get(Part.GRADIENTS) > get(Part.ACTIVATIONS) + get(Part.LOGITS)) {
            EnumMap<Part, Double> end = start();
            end.putAll(of(Part.GRADIENTS, Part.BUFFERS, Part.COMMUNICATION, Part.SLACK));
            return end;
        }
        return whileWorking();
    }

    private EnumMap<Part, Double> whileWorking() {
        EnumMap<Part, Double> parts = start();
        parts.putAll(of(Part.ACTIVATIONS, Part.LOGITS, Part.BUFFERS, Part.COMMUNICATION, Part.SLACK));
        return parts;
    }

    private EnumMap<Part, Double> step() {
        return of(Part.WEIGHTS, Part.MASTER, Part.GRADIENTS, Part.OPTIMIZER, Part.STEP, Part.CONTEXT);
    }

    /** The highest of every later iteration: the optimizer's state is there from the start. */
    private EnumMap<Part, Double> steady() {
        EnumMap<Part, Double> later = backward();
        later.put(Part.OPTIMIZER, get(Part.OPTIMIZER));
        EnumMap<Part, Double> step = step();
        return sum(later) >= sum(step) ? later : step;
    }

    /** Activations, logits and what moves while they are there. */
    double working() {
        return get(Part.ACTIVATIONS) + get(Part.LOGITS) + get(Part.BUFFERS) + get(Part.COMMUNICATION);
    }

    double state() {
        return state(bytes);
    }

    static double state(Map<Part, Double> parts) {
        double sum = 0;
        for (Map.Entry<Part, Double> part : parts.entrySet()) {
            sum += part.getKey().isState() ? part.getValue() : 0;
        }
        return sum;
    }
}
