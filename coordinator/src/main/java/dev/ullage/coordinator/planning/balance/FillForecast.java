package dev.ullage.coordinator.planning.balance;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What would still be idle on a node after the usual requests had come to it: the mean over fixed random sequences of
 * typical requests, of which the node takes all that fit. In thousandths of a device.
 *
 * <p>The same sequences are used for every state, so that the difference of two states is due to the states.
 */
final class FillForecast {
    private static final int SEQUENCES = 16;
    private static final int LENGTH = 200;
    /** Frequent requests weigh more than they count: plateau from 1 to 1.3. */
    private static final double POPULARITY = 1.2;
    /** Requests without devices take processor time only, and there are many of them. */
    private static final double WITHOUT_DEVICES = 0.2;

    private static final long SEED = 20231;

    private final PlacementBoard board;
    private final int[][][] sequences;
    /** By model: what the least demanding request for devices asks for on one of them, and of the processor. */
    private final int[] leastGrains;

    private final int[] leastCpu;
    private final NodeState scratch = new NodeState();

    FillForecast(PlacementBoard board, RequestMix mix) {
        this.board = board;
        List<RequestType[]> drawn = draw(board, mix);
        int models = board.models().size();
        sequences = new int[models][SEQUENCES][];
        leastGrains = new int[models];
        leastCpu = new int[models];
        for (int model = 0; model < models; model++) {
            leastGrains[model] = Integer.MAX_VALUE;
            leastCpu[model] = Integer.MAX_VALUE;
            for (int s = 0; s < SEQUENCES; s++) {
                sequences[model][s] = flat(drawn.get(s), model);
            }
        }
    }

    private static List<RequestType[]> draw(PlacementBoard board, RequestMix mix) {
        List<RequestMix.Entry> entries = mix.entries();
        double[] upTo = new double[entries.size()];
        double sum = 0;
        for (int e = 0; e < upTo.length; e++) {
            double weight = Math.pow(entries.get(e).frequency(), POPULARITY);
            sum += entries.get(e).request().devices() == 0 ? WITHOUT_DEVICES * weight : weight;
            upTo[e] = sum;
        }
        SplittableRandom random = new SplittableRandom(SEED);
        List<RequestType[]> sequences = new ArrayList<>();
        for (int s = 0; s < SEQUENCES; s++) {
            RequestType[] sequence = new RequestType[upTo.length == 0 ? 0 : LENGTH];
            for (int i = 0; i < sequence.length; i++) {
                int found = Arrays.binarySearch(upTo, random.nextDouble() * sum);
                int entry = Math.min(found < 0 ? -found - 1 : found + 1, upTo.length - 1);
                sequence[i] = board.typeOf(entries.get(entry).request());
            }
            sequences.add(sequence);
        }
        return sequences;
    }

    /** Only what may come to the model: processor, devices, grains, one after the other. */
    private int[] flat(RequestType[] sequence, int model) {
        int[] steps = new int[3 * sequence.length];
        int at = 0;
        for (RequestType type : sequence) {
            if (type.isAllowedOn(model)) {
                steps[at++] = type.cpuMilli();
                steps[at++] = type.devices();
                steps[at++] = type.grains();
            }
            if (type.isAllowedOn(model) && type.devices() > 0) {
                leastGrains[model] = Math.min(leastGrains[model], type.grains());
                leastCpu[model] = Math.min(leastCpu[model], type.cpuMilli());
            }
        }
        return Arrays.copyOf(steps, at);
    }

    /** @param state sorted */
    double idle(NodeState state) {
        long idle = 0;
        for (int[] steps : sequences[state.model]) {
            scratch.load(state);
            idle += idleAfter(steps);
        }
        return (double) idle / SEQUENCES * board.milliPerGrain(state.model);
    }

    private long idleAfter(int[] steps) {
        NodeState node = scratch;
        for (int i = 0; i < steps.length && isOpen(node); i += 3) {
            int cpu = steps[i];
            int devices = steps[i + 1];
            if (cpu <= node.cpu && (devices == 0 || node.takeSorted(devices, steps[i + 2]))) {
                node.cpu -= cpu;
            }
        }
        return node.total();
    }

    /** Whether any request for devices could still come: when not, nothing more changes what is idle. */
    private boolean isOpen(NodeState node) {
        return node.count > 0
                && node.left[node.count - 1] >= leastGrains[node.model]
                && node.cpu >= leastCpu[node.model];
    }
}
