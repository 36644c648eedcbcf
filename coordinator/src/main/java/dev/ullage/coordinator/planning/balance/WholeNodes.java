package dev.ullage.coordinator.planning.balance;

import dev.ullage.common.model.MemoryBytes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Which nodes are kept for large requests. Such a request needs room on all of its devices at once, and the processor
 * and memory beside them, and anything small that is put there first keeps it off. So two things are kept:
 *
 * <ul>
 *   <li>for each type of request for several devices, of the nodes that can host it as many as will be asked for out of
 *       the free room, if such requests, or harder ones, keep coming as they have: {@code 0.7 x (their part of the
 *       demand) x (free room) / (room that one takes)};
 *   <li>of each kind of node with several devices, for what has not come yet, {@code 4 x sqrt(nodes of the kind) x
 *       (free room) / (free room when the mix was last taken)}: few large requests use a rare kind up, and how many
 *       will come scatters by the square root.
 * </ul>
 *
 * <p>Kept softly: another request gets such a node when there is no other.
 */
final class WholeNodes {
    /** Above 1 the last small jobs find nothing, below 0.5 the large ones: docs/placement.md. */
    private static final double MARGIN = 0.7;

    private static final double UNSEEN = 4;

    /** Groups are bits of a long; of the types of requests the most demanded come first. */
    private static final int MAX_TYPES = 30;

    private static final int MAX_GROUPS = Long.SIZE - 1;

    private final PlacementBoard board;
    private final List<Group> groups = new ArrayList<>();
    private final int[] version;
    private final long[] hosts;
    private final int[] hosting;

    /**
     * @param hardest a request that a node of the group can host
     * @param keptPerGrain nodes to keep for each grain of free room
     */
    private record Group(RequestType hardest, double keptPerGrain) {}

    WholeNodes(PlacementBoard board, RequestMix mix) {
        this.board = board;
        version = new int[board.nodeCount()];
        hosts = new long[board.nodeCount()];
        keepForSeen(mix);
        keepForUnseen();
        hosting = new int[groups.size()];
    }

    private void keepForSeen(RequestMix mix) {
        double demand = 0;
        List<RequestType> types = new ArrayList<>();
        List<Double> amounts = new ArrayList<>();
        for (RequestMix.Entry entry : mix.entries()) {
            double amount = entry.frequency() * entry.request().total();
            demand += amount;
            if (entry.request().devices() > 1) {
                types.add(board.typeOf(entry.request()));
                amounts.add(amount);
            }
        }
        for (RequestType type : types.subList(0, Math.min(types.size(), MAX_TYPES))) {
            double room = (double) type.devices() * type.grains();
            double atLeastAsHard = 0;
            for (int i = 0; i < types.size(); i++) {
                atLeastAsHard += types.get(i).isAtLeastAsHardAs(type) ? amounts.get(i) : 0;
            }
            groups.add(new Group(type, MARGIN * atLeastAsHard / demand / room));
        }
    }

    private void keepForUnseen() {
        Map<PlacementRequest, Integer> kinds = new LinkedHashMap<>();
        for (int n = 0; n < board.nodeCount(); n++) {
            NodeRoom node = board.node(n);
            if (node.devices().size() > 1) {
                long share = node.devices().stream()
                        .mapToLong(DeviceRoom::room)
                        .min()
                        .orElse(0);
                kinds.merge(wholly(node, share), 1, Integer::sum);
            }
        }
        double free = board.freeGrains();
        kinds.forEach((kind, count) -> {
            if (groups.size() < MAX_GROUPS && kind.share() > 0 && free > 0) {
                groups.add(new Group(board.typeOf(kind), UNSEEN * Math.sqrt(count) / free));
            }
        });
    }

    private static PlacementRequest wholly(NodeRoom node, long share) {
        MemoryBytes memory = node.hostMemory();
        int devices = share == 0 ? 0 : node.devices().size();
        return new PlacementRequest(devices, share, node.cpuMilli(), memory, new TreeSet<>(List.of(node.model())));
    }

    /** The groups of which no more nodes can host one than are to be kept, one bit each. */
    long kept() {
        for (int node = 0; node < version.length; node++) {
            if (version[node] != board.versionOf(node)) {
                version[node] = board.versionOf(node);
                count(node);
            }
        }
        long free = board.freeGrains();
        long kept = 0;
        for (int g = 0; g < hosting.length; g++) {
            kept |= hosting[g] <= groups.get(g).keptPerGrain() * free ? 1L << g : 0;
        }
        return kept;
    }

    private void count(int node) {
        long now = 0;
        for (int g = 0; g < hosting.length; g++) {
            now |= board.hosts(node, groups.get(g).hardest()) ? 1L << g : 0;
            hosting[g] += (int) (((now >> g) & 1) - ((hosts[node] >> g) & 1));
        }
        hosts[node] = now;
    }

    /**
     * The groups that the node can host now and could not in this state, one bit each; none that the type is as hard
     * as.
     */
    long brokenBy(int node, RequestType type, NodeState after) {
        long broken = 0;
        for (long rest = hosts[node]; rest != 0; rest &= rest - 1) {
            int g = Long.numberOfTrailingZeros(rest);
            RequestType hardest = groups.get(g).hardest();
            broken |= type.isAtLeastAsHardAs(hardest) || after.hosts(hardest) ? 0 : 1L << g;
        }
        return broken;
    }
}
