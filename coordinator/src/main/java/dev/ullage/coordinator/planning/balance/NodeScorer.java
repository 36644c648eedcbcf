package dev.ullage.coordinator.planning.balance;

/** What a placement on one node costs by some rule that looks at that node alone. */
interface NodeScorer {

    /** Of the best way to host the type on a node that can host it; less is better. */
    double cost(PlacementBoard board, int node, RequestType type);

    /** What the placement that {@link #cost} was last asked for takes from kept nodes, one bit each; 0 is nothing. */
    default long breaks() {
        return 0;
    }

    /** The kinds of nodes that are to be kept now, one bit each. */
    default long kept() {
        return 0;
    }

    /** The devices that {@link #cost} stands for, ascending. */
    int[] devices(PlacementBoard board, int node, RequestType type);
}
