package dev.ullage.network;

import dev.ullage.coordinator.planning.predict.DemandPredictor;
import dev.ullage.coordinator.planning.predict.Guarded;
import dev.ullage.coordinator.planning.predict.PredictorProvider;
import dev.ullage.coordinator.planning.predict.PredictorUnavailableException;
import dev.ullage.coordinator.planning.predict.Priced;
import java.util.Set;
import java.util.function.Supplier;

/** {@code lstm}, which falls back on the priced rule where it misses too often, and {@code lstm-unguarded}. */
public final class LstmProvider implements PredictorProvider {
    private static final String GUARDED = "lstm";
    private static final String UNGUARDED = "lstm-unguarded";

    @Override
    public Set<String> names() {
        return Set.of(GUARDED, UNGUARDED);
    }

    @Override
    public Supplier<DemandPredictor> open(String name) throws PredictorUnavailableException {
        OnnxNetwork network = OnnxNetwork.load();
        return name.equals(UNGUARDED)
                ? () -> new LstmPredictor(network)
                : () -> new Guarded(
                        new LstmPredictor(network), new Priced(Priced.Settings.DEFAULTS), Guarded.Settings.DEFAULTS);
    }
}
