package dev.ullage.coordinator.prediction;

import dev.ullage.coordinator.planning.predict.DemandPredictor;
import dev.ullage.coordinator.planning.predict.PredictorCatalog;
import dev.ullage.coordinator.planning.predict.PredictorProvider;
import dev.ullage.coordinator.planning.predict.PredictorUnavailableException;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Supplier;

/** The predictors of the catalog, and those of jars on the class path. */
public final class InstalledPredictors {
    /** The names that a jar of their own brings along: they are known also where it is missing. */
    public static final Set<String> NETWORKS = Set.of("lstm", "lstm-unguarded");

    private InstalledPredictors() {}

    /** Makes predictors of one name. */
    @FunctionalInterface
    public interface Maker {
        /**
         * @param period values of a training step, where the series has one
         * @return empty: that predictor needs a period and the series has none
         */
        Optional<DemandPredictor> make(OptionalInt period);
    }

    /**
     * @throws IllegalArgumentException no predictor has that name
     * @throws PredictorUnavailableException it exists, but this installation cannot run it
     */
    public static Maker find(String name) throws PredictorUnavailableException {
        if (!NETWORKS.contains(name)) {
            // Said now, not at the first series: what is wrong with the name.
            Optional<Supplier<DemandPredictor>> ofAnySeries = PredictorCatalog.find(name, OptionalInt.empty());
            return period ->
                    ofAnySeries.or(() -> PredictorCatalog.find(name, period)).map(Supplier::get);
        }
        try {
            for (PredictorProvider provider : ServiceLoader.load(PredictorProvider.class)) {
                if (provider.names().contains(name)) {
                    Supplier<DemandPredictor> network = provider.open(name);
                    return period -> Optional.of(network.get());
                }
            }
        } catch (ServiceConfigurationError | LinkageError e) {
            throw new PredictorUnavailableException(missing(name) + ": " + e, e);
        }
        throw new PredictorUnavailableException(missing(name));
    }

    private static String missing(String name) {
        return "the predictor '%s' needs ullage-network and onnxruntime in the folder lib (docs/prediction.md)"
                .formatted(name);
    }
}
