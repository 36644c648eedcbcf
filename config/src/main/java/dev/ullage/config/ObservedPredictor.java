package dev.ullage.config;

/** What {@code observed} goes by for a rank that reports no step, by the names the settings use. */
public enum ObservedPredictor {
    /** Peaks alone: such a rank has an equal part of the device. */
    PHASE_MAX("phase-max"),
    /** Its use over time, by the rule that puts a price on a miss (docs/prediction.md). */
    PRICED("priced"),
    /** Its use over time, by a network, which another module brings along; by that rule where it misses too often. */
    LSTM("lstm");

    private final String label;

    ObservedPredictor(String label) {
        this.label = label;
    }

    public String label() {
        return label;
    }

    @Override
    public String toString() {
        return label;
    }
}
