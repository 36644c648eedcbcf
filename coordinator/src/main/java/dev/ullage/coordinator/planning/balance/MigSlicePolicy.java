package dev.ullage.coordinator.planning.balance;

import java.util.Arrays;

/**
 * For MIG instances, whose sizes are fixed and differ: the instances with the least room in bytes that is enough, on
 * whichever node; large ones stay free for who needs them. Over several instances the sum of what they would have left
 * counts. Ties to the lowest position.
 */
public final class MigSlicePolicy implements PlacementPolicy {
    private final CheapestNode cheapest = new CheapestNode("mig-slice", new Scorer());

    @Override
    public Placement place(PlacementBoard board, PlacementRequest request) {
        if (board.unit() != ShareUnit.BYTES) {
            throw new IllegalArgumentException(
                    "MIG instances are chosen by bytes, and the board counts in " + board.unit());
        }
        return cheapest.choose(board, request);
    }

    /** Cost: MiB left over on the chosen instances. */
    private static final class Scorer extends FullestDevices {
        @Override
        public double cost(PlacementBoard board, int node, RequestType type) {
            return Arrays.stream(devices(board, node, type))
                    .mapToDouble(device -> board.grainsOn(node, device) - (double) type.grains())
                    .sum();
        }
    }
}
