package dev.ullage.config;

/** The policies there are, by the names the settings use. docs/policies.md says what each does. */
public enum PolicyName {
    RANK_SHARE("rank-share", false),
    WORLD_SHARE("world-share", true),
    FIXED("fixed", false),
    GROWTH("growth", false),
    PRIORITY_POOL("priority-pool", false),
    HYBRID("hybrid", true),
    OBSERVED("observed", true);

    private final String label;
    private final boolean looksAtRanks;

    PolicyName(String label, boolean looksAtRanks) {
        this.label = label;
        this.looksAtRanks = looksAtRanks;
    }

    /** Whether limits depend on what ranks say of themselves, which is not known for a while after a takeover. */
    public boolean looksAtRanks() {
        return looksAtRanks;
    }

    public String label() {
        return label;
    }

    @Override
    public String toString() {
        return label;
    }
}
