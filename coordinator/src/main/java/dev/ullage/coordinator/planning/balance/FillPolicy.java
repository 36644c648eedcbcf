package dev.ullage.coordinator.planning.balance;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps nodes such that what usually comes will fill them. The cost of a placement is
 *
 * <pre>
 *   V(after) - V(before) + 0.3 x devices x share x rho(model),     V = R + M
 * </pre>
 *
 * <p>R: what would be idle after typical requests ({@link FillForecast}). M: the {@link Fragmentation} over requests
 * for more than one device, which keeps whole nodes whole. rho: how much of the demand insists on this model, relative
 * to its part of the capacity ({@link Scarcity}), so that who can go anywhere keeps off what others need. Of the nodes
 * that are not kept for larger requests ({@link WholeNodes}) the least cost wins, ties to the lowest position.
 *
 * <p>As used in production it knows no future: the mix is that of the requests that have arrived on the board, taken
 * again at arrival 1, 32, and then at every half more.
 */
public final class FillPolicy implements PlacementPolicy {
    private static final double SCARCITY = 0.3;
    private static final int SECOND_LOOK = 32;

    private final @Nullable RequestMix known;
    private final CheapestNode cheapest;
    private final StateMemo memo = new StateMemo();
    private @Nullable Rule rule;
    private int lookAgainAt;

    private FillPolicy(String name, @Nullable RequestMix known) {
        this.known = known;
        cheapest = new CheapestNode(name, new Scorer());
    }

    /** Learns the mix from what arrives. */
    public static FillPolicy online() {
        return new FillPolicy("fill", null);
    }

    /** Knows the mix of what will come: for comparison only. */
    public static FillPolicy knowing(RequestMix whole) {
        return new FillPolicy("fill-offline", whole);
    }

    /** What follows from one mix on one board, with the nodes' values as far as they were worked out. */
    private static final class Rule {
        final PlacementBoard board;
        final FillForecast forecast;
        final Fragmentation ofSeveral;
        final Scarcity scarcity;
        final WholeNodes wholeNodes;
        final double[] before;
        final int[] version;

        Rule(PlacementBoard board, RequestMix mix) {
            this.board = board;
            forecast = new FillForecast(board, mix);
            ofSeveral = Fragmentation.over(board, mix, request -> request.devices() > 1);
            scarcity = Scarcity.over(board, mix);
            wholeNodes = new WholeNodes(board, mix);
            before = new double[board.nodeCount()];
            version = new int[board.nodeCount()];
        }

        double value(NodeState sorted) {
            return forecast.idle(sorted) + ofSeveral.of(sorted);
        }
    }

    @Override
    public Placement place(PlacementBoard board, PlacementRequest request) {
        learn(board);
        return cheapest.choose(board, request);
    }

    private void learn(PlacementBoard board) {
        boolean isNew = rule == null || rule.board != board;
        boolean isDue = known == null && board.arrivedCount() >= lookAgainAt;
        if (!isNew && !isDue) {
            return;
        }
        rule = new Rule(board, Optional.ofNullable(known).orElseGet(board::arrivedMix));
        memo.clear();
        cheapest.forget();
        lookAgainAt = Math.max(SECOND_LOOK, board.arrivedCount() + board.arrivedCount() / 2);
    }

    private final class Scorer implements NodeScorer {
        private final NodeState before = new NodeState();
        private final NodeState after = new NodeState();
        private int bestDevice;
        private long breaks;

        @Override
        public double cost(PlacementBoard board, int node, RequestType type) {
            Rule now = current();
            before.load(board, node);
            double taken = (double) type.devices() * type.grains() * board.milliPerGrain(before.model);
            double scarce = SCARCITY * taken * now.scarcity.of(before.model);
            double value = type.devices() == 1 ? afterOne(now, type) : afterSeveral(now, type);
            after.load(before);
            after.take(type, chosen(type));
            breaks = now.wholeNodes.brokenBy(node, type, after);
            return value - valueBefore(now, board, node) + scarce;
        }

        private double afterOne(Rule now, RequestType type) {
            double least = Double.POSITIVE_INFINITY;
            bestDevice = -1;
            for (int i = 0; i < before.count; i++) {
                if (before.left[i] >= type.grains() && !before.hasEqualBefore(i)) {
                    double value = after(now, type, i);
                    bestDevice = value < least ? i : bestDevice;
                    least = Math.min(least, value);
                }
            }
            return least;
        }

        private double afterSeveral(Rule now, RequestType type) {
            return after(now, type, before.fullestThatFit(type.devices(), type.grains()));
        }

        private double after(Rule now, RequestType type, int... devices) {
            after.load(before);
            after.take(type, devices);
            return value(now);
        }

        private double value(Rule now) {
            after.sort();
            return memo.get(after, now::value);
        }

        private double valueBefore(Rule now, PlacementBoard board, int node) {
            if (now.version[node] != board.versionOf(node)) {
                after.load(board, node);
                now.before[node] = value(now);
                now.version[node] = board.versionOf(node);
            }
            return now.before[node];
        }

        @Override
        public long breaks() {
            return breaks;
        }

        @Override
        public long kept() {
            return current().wholeNodes.kept();
        }

        private Rule current() {
            if (rule == null) {
                throw new IllegalStateException("asked before it has looked at a board");
            }
            return rule;
        }

        @Override
        public int[] devices(PlacementBoard board, int node, RequestType type) {
            before.load(board, node);
            if (type.devices() == 1) {
                afterOne(current(), type);
            }
            return chosen(type);
        }

        private int[] chosen(RequestType type) {
            return type.devices() == 1 ? new int[] {bestDevice} : before.fullestThatFit(type.devices(), type.grains());
        }
    }
}
