package dev.ullage.coordinator.planning.balance;

import dev.ullage.common.model.Counts;
import dev.ullage.coordinator.planning.balance.Placement.Placed;
import dev.ullage.coordinator.planning.balance.Placement.Refused;
import dev.ullage.coordinator.planning.balance.PlacementBoard.Bound;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The node with the least cost, ties to the lowest position. A cost depends on its node alone, so it is kept for each
 * type of request until the node changes: a decision looks at every node and works out few.
 */
final class CheapestNode {
    /** Types whose costs are kept; the one that was not asked for longest goes. */
    private static final int MAX_TYPES = 1024;

    private static final int MAX_NAMED = 3;

    private final String policy;
    private final NodeScorer scorer;
    private final Map<RequestType, Costs> known = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<RequestType, Costs> eldest) {
            return size() > MAX_TYPES;
        }
    };

    private @Nullable PlacementBoard board;

    CheapestNode(String policy, NodeScorer scorer) {
        this.policy = policy;
        this.scorer = scorer;
    }

    private static final class Costs {
        final double[] cost;
        final long[] breaks;
        final int[] version;

        Costs(int nodes) {
            cost = new double[nodes];
            breaks = new long[nodes];
            version = new int[nodes];
        }
    }

    /** The rule has changed: what was worked out by it no longer holds. */
    void forget() {
        known.clear();
    }

    Placement choose(PlacementBoard on, PlacementRequest request) {
        if (board != on) {
            forget();
            board = on;
        }
        RequestType type = on.typeOf(request);
        long kept = scorer.kept();
        Costs costs = known.computeIfAbsent(type, wanted -> new Costs(on.nodeCount()));
        update(on, type, costs);
        return pick(on, type, costs, kept);
    }

    /** Of the nodes of which the least is kept for others: of those that are not kept at all, when one has room. */
    private Placement pick(PlacementBoard on, RequestType type, Costs costs, long kept) {
        int best = -1;
        double least = Double.POSITIVE_INFINITY;
        int fewest = Integer.MAX_VALUE;
        int hosting = 0;
        for (int node = 0; node < costs.cost.length; node++) {
            double cost = costs.cost[node];
            if (cost == Double.POSITIVE_INFINITY) {
                continue;
            }
            hosting++;
            int broken = Long.bitCount(costs.breaks[node] & kept);
            if (broken < fewest || (broken == fewest && cost < least)) {
                fewest = broken;
                least = cost;
                best = node;
            }
        }
        return best < 0
                ? refused(policy, on, type)
                : placed(on, type, best, new Chosen(policy, least, hosting, fewest > 0));
    }

    private void update(PlacementBoard on, RequestType type, Costs costs) {
        for (int node = 0; node < costs.cost.length; node++) {
            int version = on.versionOf(node);
            if (costs.version[node] != version) {
                costs.version[node] = version;
                boolean hosts = on.hosts(node, type);
                costs.cost[node] = hosts ? scorer.cost(on, node, type) : Double.POSITIVE_INFINITY;
                costs.breaks[node] = hosts ? scorer.breaks() : 0;
            }
        }
    }

    private Placed placed(PlacementBoard on, RequestType type, int node, Chosen why) {
        int[] devices = scorer.devices(on, node, type);
        return new Placed(
                node, on.node(node).node(), Arrays.stream(devices).boxed().toList(), why);
    }

    private record Chosen(String policy, double cost, int hosting, boolean isKept) implements Placement.Why {
        @Override
        public String text() {
            return String.format(
                    Locale.ROOT,
                    "%s, cost %.1f, the least of %s that %s room%s",
                    policy,
                    cost,
                    Counts.of(hosting, "node"),
                    Counts.word(hosting, "has", "have"),
                    isKept ? ", all of them kept for requests for more devices" : "");
        }
    }

    /** Says which bound held on how many nodes, and which devices are out for a reason of their own. */
    static Refused refused(String policy, PlacementBoard on, RequestType type) {
        Map<Bound, Integer> counts = new EnumMap<>(Bound.class);
        for (int node = 0; node < on.nodeCount(); node++) {
            on.bound(node, type).ifPresent(bound -> counts.merge(bound, 1, Integer::sum));
        }
        return new Refused(() -> "%s: none of %s has room for %s: %s%s"
                .formatted(
                        policy,
                        Counts.of(on.nodeCount(), "node"),
                        wanted(on, type),
                        counts.entrySet().stream()
                                .map(entry -> "%d with %s"
                                        .formatted(
                                                entry.getValue(), entry.getKey().text()))
                                .collect(Collectors.joining(", ")),
                        out(on)));
    }

    private static String wanted(PlacementBoard on, RequestType type) {
        PlacementRequest request = type.request();
        String models = request.models().isEmpty() ? "" : " of " + String.join(" or ", request.models());
        return "%d x %s%s, cpu %d milli, %s of host memory"
                .formatted(
                        request.devices(),
                        on.unit().text(request.share()),
                        models,
                        request.cpuMilli(),
                        request.hostMemory());
    }

    private static String out(PlacementBoard on) {
        List<String> reasons = new ArrayList<>();
        for (int node = 0; node < on.nodeCount(); node++) {
            on.node(node).devices().forEach(device -> device.reason()
                    .ifPresent(reason -> reasons.add(device.device() + " (" + reason + ")")));
        }
        if (reasons.isEmpty()) {
            return "";
        }
        String more = reasons.size() > MAX_NAMED ? " and %d more".formatted(reasons.size() - MAX_NAMED) : "";
        return "; out: " + String.join(", ", reasons.subList(0, Math.min(MAX_NAMED, reasons.size()))) + more;
    }
}
