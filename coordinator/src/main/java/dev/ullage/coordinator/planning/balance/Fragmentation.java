package dev.ullage.coordinator.planning.balance;

import java.util.List;
import java.util.function.Predicate;

/**
 * Free room that typical requests cannot use, in thousandths of a device. For a request that the node cannot host
 * (processor, model, number of devices), or that wants no device, all free room counts; for one that it can host, the
 * devices that are too small for it; then the mean over the typical requests by their frequency.
 *
 * <p>Source: Weng et al., "Beware of Fragmentation", USENIX ATC 2023, with their treatment of requests without devices.
 */
public final class Fragmentation {
    private final PlacementBoard board;
    private final RequestType[] types;
    private final double[] weights;
    private final NodeState scratch = new NodeState();

    private Fragmentation(PlacementBoard board, List<RequestMix.Entry> entries) {
        this.board = board;
        types = entries.stream().map(entry -> board.typeOf(entry.request())).toArray(RequestType[]::new);
        weights = entries.stream().mapToDouble(RequestMix.Entry::frequency).toArray();
    }

    public static Fragmentation over(PlacementBoard board, RequestMix mix) {
        return new Fragmentation(board, mix.entries());
    }

    /** Over some of the mix only, each with the frequency it has in the whole. */
    static Fragmentation over(PlacementBoard board, RequestMix mix, Predicate<PlacementRequest> only) {
        return new Fragmentation(
                board,
                mix.entries().stream()
                        .filter(entry -> only.test(entry.request()))
                        .toList());
    }

    /** Of a node as it is, in thousandths of a device of its model. */
    public double ofNode(int node) {
        scratch.load(board, node);
        return of(scratch);
    }

    double of(NodeState state) {
        double stranded = 0;
        long total = state.total();
        for (int t = 0; t < types.length; t++) {
            stranded += weights[t] * stranded(state, types[t], total);
        }
        return stranded * board.milliPerGrain(state.model);
    }

    private static long stranded(NodeState state, RequestType type, long total) {
        if (type.devices() == 0 || state.cpu < type.cpuMilli() || !type.isAllowedOn(state.model)) {
            return total;
        }
        long tooSmall = 0;
        int fitting = 0;
        for (int i = 0; i < state.count; i++) {
            int left = state.left[i];
            if (left >= type.grains()) {
                fitting++;
            } else {
                tooSmall += left;
            }
        }
        return fitting >= type.devices() ? tooSmall : total;
    }
}
