package dev.ullage.coordinator.prediction;

import dev.ullage.config.ObservedPredictor;
import dev.ullage.coordinator.planning.RankDemands;
import dev.ullage.coordinator.planning.predict.DemandPredictor;
import dev.ullage.coordinator.planning.predict.PredictorUnavailableException;
import java.util.OptionalInt;
import java.util.function.Supplier;

/** What follows ranks that count no steps, by the predictor of the settings. */
public final class InstalledDemands {
    private InstalledDemands() {}

    /**
     * Loads what the predictor runs on, so that what is missing is found now and not at the first rank.
     *
     * @return makes what follows the ranks, with none yet
     * @throws PredictorUnavailableException this installation cannot run it
     */
    public static Supplier<RankDemands> open(ObservedPredictor predictor) throws PredictorUnavailableException {
        if (predictor != ObservedPredictor.LSTM) {
            return () -> new RankDemands(predictor);
        }
        InstalledPredictors.Maker maker = InstalledPredictors.find(predictor.label());
        Supplier<DemandPredictor> network =
                () -> maker.make(OptionalInt.empty()).orElseThrow();
        return () -> new RankDemands(predictor, network);
    }
}
