package dev.ullage.coordinator.planning.balance;

import dev.ullage.coordinator.planning.balance.Placement.Placed;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/** Any node that has room, and any of its devices that fit, each as likely as another: the baseline. */
public final class RandomPolicy implements PlacementPolicy {
    private final SplittableRandom random;

    /** @param seed the same seed makes the same choices */
    public RandomPolicy(long seed) {
        random = new SplittableRandom(seed);
    }

    @Override
    public Placement place(PlacementBoard board, PlacementRequest request) {
        RequestType type = board.typeOf(request);
        int[] hosting = new int[board.nodeCount()];
        int count = 0;
        for (int node = 0; node < hosting.length; node++) {
            if (board.hosts(node, type)) {
                hosting[count++] = node;
            }
        }
        if (count == 0) {
            return CheapestNode.refused("random", board, type);
        }
        int node = hosting[random.nextInt(count)];
        int among = count;
        return new Placed(
                node,
                board.node(node).node(),
                devices(board, node, type),
                () -> "random, one of the nodes that have room: " + among);
    }

    private List<Integer> devices(PlacementBoard board, int node, RequestType type) {
        List<Integer> fitting = new ArrayList<>();
        for (int device = 0; device < board.deviceCount(node); device++) {
            if (board.grainsOn(node, device) >= type.grains()) {
                fitting.add(device);
            }
        }
        List<Integer> chosen = new ArrayList<>();
        for (int k = 0; k < type.devices(); k++) {
            chosen.add(fitting.remove(random.nextInt(fitting.size())));
        }
        Collections.sort(chosen);
        return chosen;
    }
}
