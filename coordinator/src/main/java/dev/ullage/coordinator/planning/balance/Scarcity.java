package dev.ullage.coordinator.planning.balance;

/**
 * How much of the demand insists on a model, relative to the model's part of all capacity: 0 when nobody names it, 1
 * when as much of the demand names it as it has of the capacity. A request that names several models insists on each by
 * its part of their capacity.
 */
final class Scarcity {
    private final double[] byModel;

    private Scarcity(double[] byModel) {
        this.byModel = byModel;
    }

    static Scarcity over(PlacementBoard board, RequestMix mix) {
        int models = board.models().size();
        double[] insists = new double[models];
        double capacity = 0;
        for (int m = 0; m < models; m++) {
            capacity += board.capacityOf(m);
        }
        double demand = 0;
        for (RequestMix.Entry entry : mix.entries()) {
            double amount = entry.frequency() * entry.request().total();
            demand += amount;
            if (!entry.request().models().isEmpty()) {
                insist(board, board.typeOf(entry.request()), amount, insists);
            }
        }
        double[] byModel = new double[models];
        for (int m = 0; m < models; m++) {
            boolean isNothing = demand == 0 || board.capacityOf(m) == 0;
            byModel[m] = isNothing ? 0 : insists[m] / demand / (board.capacityOf(m) / capacity);
        }
        return new Scarcity(byModel);
    }

    private static void insist(PlacementBoard board, RequestType type, double amount, double[] insists) {
        double named = 0;
        for (int m = 0; m < insists.length; m++) {
            named += type.isAllowedOn(m) ? board.capacityOf(m) : 0;
        }
        for (int m = 0; m < insists.length && named > 0; m++) {
            insists[m] += type.isAllowedOn(m) ? amount * board.capacityOf(m) / named : 0;
        }
    }

    double of(int model) {
        return byModel[model];
    }
}
