package dev.ullage.coordinator.planning.balance;

import org.jspecify.annotations.Nullable;

/**
 * Fragmentation gradient descent (Weng et al., USENIX ATC 2023): the node on which the placement lowers the
 * fragmentation most. Its score is {@code floor(100 / (1 + exp(-fall / 1000)))}, a whole number on purpose: the ties it
 * makes, which go to the lowest position, pack better than the exact value does.
 *
 * <p>It knows the mix of what will come, as the published runs do.
 */
public final class FgdPolicy implements PlacementPolicy {
    private static final double TYPICAL = 0.95;
    private static final double BEST_SCORE = 100;
    private static final double MILLI = 1000;

    private final RequestMix mix;
    private final CheapestNode cheapest = new CheapestNode("fgd", new Scorer());
    private @Nullable PlacementBoard measuredOn;
    private @Nullable Fragmentation fragmentation;

    /** @param whole of all requests that will come; the typical ones among them are what counts */
    public FgdPolicy(RequestMix whole) {
        mix = whole.covering(TYPICAL);
    }

    @Override
    public Placement place(PlacementBoard board, PlacementRequest request) {
        return cheapest.choose(board, request);
    }

    private Fragmentation on(PlacementBoard board) {
        Fragmentation known = fragmentation;
        if (known == null || measuredOn != board) {
            known = Fragmentation.over(board, mix);
            fragmentation = known;
            measuredOn = board;
        }
        return known;
    }

    private final class Scorer implements NodeScorer {
        private final NodeState before = new NodeState();
        private final NodeState after = new NodeState();
        private int bestDevice;

        @Override
        public double cost(PlacementBoard board, int node, RequestType type) {
            Fragmentation measure = on(board);
            before.load(board, node);
            double now = measure.of(before);
            if (type.devices() != 1) {
                return -score(now - then(measure, type, before.fullestThatFit(type.devices(), type.grains())));
            }
            int best = -1;
            bestDevice = -1;
            for (int i = 0; i < before.count; i++) {
                int score = before.left[i] < type.grains() ? -1 : score(now - then(measure, type, i));
                if (score > best) {
                    best = score;
                    bestDevice = i;
                }
            }
            return -best;
        }

        private double then(Fragmentation measure, RequestType type, int... devices) {
            after.load(before);
            after.take(type, devices);
            return measure.of(after);
        }

        @Override
        public int[] devices(PlacementBoard board, int node, RequestType type) {
            if (type.devices() == 1) {
                cost(board, node, type);
                return new int[] {bestDevice};
            }
            before.load(board, node);
            return before.fullestThatFit(type.devices(), type.grains());
        }
    }

    /** 0 to 100, rounded down. */
    private static int score(double fallMilli) {
        return (int) (BEST_SCORE / (1 + Math.exp(-fallMilli / MILLI)));
    }
}
