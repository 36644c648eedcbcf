package dev.ullage.coordinator.planning.balance;

/**
 * The opposite of packing: the node whose devices are used least, as a share of them, and on it the emptiest devices.
 * Gives each job the most room to grow into, and strands the most. Ties to the lowest position.
 */
public final class SpreadPolicy implements PlacementPolicy {
    private final CheapestNode cheapest = new CheapestNode("spread", new Scorer());

    @Override
    public Placement place(PlacementBoard board, PlacementRequest request) {
        return cheapest.choose(board, request);
    }

    private static final class Scorer implements NodeScorer {
        private final NodeState state = new NodeState();

        @Override
        public double cost(PlacementBoard board, int node, RequestType type) {
            double whole = (double) board.wholeDevice(board.modelOf(node)) * board.deviceCount(node);
            double usedDevices = whole == 0 ? 0 : 1 - board.grainsOn(node) / whole;
            int cpu = board.node(node).cpuMilli();
            double usedCpu = cpu == 0 ? 0 : 1 - board.cpuMilliOn(node) / (double) cpu;
            return 1000 * (type.devices() == 0 ? usedCpu : usedDevices);
        }

        @Override
        public int[] devices(PlacementBoard board, int node, RequestType type) {
            state.load(board, node);
            return state.emptiest(type.devices());
        }
    }
}
