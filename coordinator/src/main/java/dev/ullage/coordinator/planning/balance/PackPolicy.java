package dev.ullage.coordinator.planning.balance;

/**
 * Fills before it opens: first devices that are already in use, the fullest first; then free devices of a node in use,
 * as few as possible; then a free node, the smallest first. Ties to the lowest position.
 */
public final class PackPolicy implements PlacementPolicy {
    private static final double FREE_DEVICES = 1e6;
    private static final double FREE_NODE = 1e9;

    private final CheapestNode cheapest = new CheapestNode("pack", new Scorer());

    @Override
    public Placement place(PlacementBoard board, PlacementRequest request) {
        return cheapest.choose(board, request);
    }

    private static final class Scorer extends FullestDevices {
        private final NodeState state = new NodeState();

        @Override
        public double cost(PlacementBoard board, int node, RequestType type) {
            state.load(board, node);
            int whole = board.wholeDevice(state.model);
            double milli = board.milliPerGrain(state.model);
            int free = 0;
            for (int i = 0; i < state.count; i++) {
                free += state.left[i] == whole ? 1 : 0;
            }
            if (free == state.count) {
                return FREE_NODE + free;
            }
            int opened = 0;
            double leftOnUsed = 0;
            for (int device : state.fullestThatFit(type.devices(), type.grains())) {
                opened += state.left[device] == whole ? 1 : 0;
                leftOnUsed += state.left[device] * milli;
            }
            return opened > 0 ? FREE_DEVICES + opened : leftOnUsed;
        }
    }
}
