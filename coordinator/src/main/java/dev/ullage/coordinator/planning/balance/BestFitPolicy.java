package dev.ullage.coordinator.planning.balance;

/**
 * The node with the least left afterwards, processor and devices weighed alike against the largest node of the board,
 * in steps of a hundredth, ties to the lowest position; on it the fullest devices that fit.
 */
public final class BestFitPolicy implements PlacementPolicy {
    private static final double BEST_SCORE = 100;

    private final CheapestNode cheapest = new CheapestNode("best-fit", new Scorer());

    @Override
    public Placement place(PlacementBoard board, PlacementRequest request) {
        return cheapest.choose(board, request);
    }

    private static final class Scorer extends FullestDevices {
        @Override
        public double cost(PlacementBoard board, int node, RequestType type) {
            double cpu = board.cpuMilliOn(node) - type.cpuMilli();
            double devices = (board.grainsOn(node) - (double) type.devices() * type.grains())
                    * board.milliPerGrain(board.modelOf(node));
            double left = 0.5 * part(cpu, board.largestCpuMilli()) + 0.5 * part(devices, board.largestDevicesMilli());
            return -(int) ((1 - left) * BEST_SCORE);
        }

        private static double part(double left, double of) {
            return of == 0 ? 0 : left / of;
        }
    }
}
