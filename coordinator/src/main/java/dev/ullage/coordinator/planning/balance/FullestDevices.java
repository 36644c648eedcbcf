package dev.ullage.coordinator.planning.balance;

/** Rules that look at the node and then take the fullest of its devices that fit. */
abstract class FullestDevices implements NodeScorer {
    private final NodeState state = new NodeState();

    @Override
    public int[] devices(PlacementBoard board, int node, RequestType type) {
        state.load(board, node);
        return state.fullestThatFit(type.devices(), type.grains());
    }
}
