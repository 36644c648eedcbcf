package dev.ullage.coordinator.planning.balance;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The placement policies by name. */
public enum PolicyKind {
    FILL,
    FILL_OFFLINE,
    FGD,
    BEST_FIT,
    PACK,
    SPREAD,
    RANDOM;

    /** As people write it: {@code best-fit}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static Optional<PolicyKind> of(String label) {
        return Arrays.stream(values())
                .filter(kind -> kind.label().equals(label))
                .findFirst();
    }

    /**
     * A new one with a memory of its own.
     *
     * @param future all requests that will come, for the policies that want to know; the others do not look
     * @param seed for the one that throws dice
     */
    public PlacementPolicy create(RequestMix future, long seed) {
        return switch (this) {
            case FILL -> FillPolicy.online();
            case FILL_OFFLINE -> FillPolicy.knowing(future);
            case FGD -> new FgdPolicy(future);
            case BEST_FIT -> new BestFitPolicy();
            case PACK -> new PackPolicy();
            case SPREAD -> new SpreadPolicy();
            case RANDOM -> new RandomPolicy(seed);
        };
    }

    @Override
    public String toString() {
        return label();
    }
}
