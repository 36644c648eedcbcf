package dev.ullage.coordinator.planning.predict;

import java.util.Set;
import java.util.function.Supplier;

/** Predictors that come with a jar of their own, because what they run on is large: found by {@code ServiceLoader}. */
public interface PredictorProvider {

    /** As a setting or the command line names them. */
    Set<String> names();

    /**
     * Loads what the predictor runs on; what is made of it afterwards is one for each series.
     *
     * @throws PredictorUnavailableException it cannot run on this machine
     */
    Supplier<DemandPredictor> open(String name) throws PredictorUnavailableException;
}
