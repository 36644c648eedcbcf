package dev.ullage.coordinator.planning.estimate;

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

    double init() {
        return get(Part.WEIGHTS) + get(Part.MASTER) + (gradientsFreed ? 0 : get(Part.GRADIENTS)) + get(Part.CONTEXT);
    }

    /** Activations, logits and what moves while they are there. */
    double working() {
        return get(Part.ACTIVATIONS) + get(Part.LOGITS) + get(Part.BUFFERS) + get(Part.COMMUNICATION) + get(Part.SLACK);
    }

    double forward() {
        return init() + working();
    }

    /** When gradients are freed: they grow as activations shrink, so the larger of the two counts. */
    double backward() {
        return gradientsFreed
                ? init() + Math.max(working(), get(Part.GRADIENTS) + get(Part.BUFFERS) + get(Part.COMMUNICATION))
                : forward();
    }

    double step() {
        return get(Part.WEIGHTS)
                + get(Part.MASTER)
                + get(Part.GRADIENTS)
                + get(Part.OPTIMIZER)
                + get(Part.STEP)
                + get(Part.CONTEXT);
    }

    /** The highest of every later iteration. */
    double steady() {
        return Math.max(step(), Math.max(forward(), backward()) + get(Part.OPTIMIZER));
    }

    double firstIteration() {
        return Math.max(step(), Math.max(forward(), backward()));
    }

    double state() {
        double sum = 0;
        for (Part part : Part.values()) {
            sum += part.isState() ? get(part) : 0;
        }
        return sum;
    }
}
