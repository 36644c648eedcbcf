package dev.ullage.network;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.predict.DemandPredictor;
import dev.ullage.coordinator.planning.predict.Prediction;

/**
 * The limit is the 0.98 quantile of what the network expects: after a step that changed nothing at least the last
 * value, which a network only ever meets to some digits; after a change with some room on top of a rise.
 */
final class LstmPredictor implements DemandPredictor {
    private static final int EXPECTED = 0;
    private static final int HIGH = 2;

    /** A rise times this is what only 1 % of the steps of the pods it was tuned on went beyond. */
    private static final double ROOM = 1.05;

    private static final double NO_CHANGE = .25 * MemoryBytes.GIBIBYTE;

    private final OnnxNetwork network;
    private final LstmFeatures features = new LstmFeatures();
    private final OnnxNetwork.CellState state = new OnnxNetwork.CellState();

    LstmPredictor(OnnxNetwork network) {
        this.network = network;
    }

    @Override
    public Prediction observe(MemoryBytes used) {
        float[] change = network.step(features.next(used.value()), state);
        MemoryBytes forecast = changed(used, change[EXPECTED]);
        if (!features.isIdle()) {
            double room = change[HIGH] > 0 ? ROOM : 1;
            return new Prediction(changed(used, change[HIGH] * room), forecast);
        }
        boolean staysPut = Math.abs(change[EXPECTED] * LstmFeatures.UNIT) < NO_CHANGE;
        return new Prediction(changed(used, change[HIGH]).max(used), staysPut ? used : forecast);
    }

    private static MemoryBytes changed(MemoryBytes used, double change) {
        long bytes = (long) (change * LstmFeatures.UNIT);
        return bytes < 0
                ? used.minusOrZero(MemoryBytes.of(-bytes))
                : used.plus(MemoryBytes.of(Math.min(bytes, Long.MAX_VALUE - used.value())));
    }
}
