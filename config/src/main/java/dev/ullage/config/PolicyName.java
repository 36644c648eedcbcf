package dev.ullage.config;

import java.util.Arrays;
import java.util.Optional;

/** The policies there are, by the names the settings use. docs/policies.md says what each does. */
public enum PolicyName {
    RANK_SHARE("rank-share", false),
    WORLD_SHARE("world-share", true),
    FIXED("fixed", false),
    GROWTH("growth", false),
    PRIORITY_POOL("priority-pool", false),
    HYBRID("hybrid", true),
    OBSERVED("observed", true),
    PLANNED("planned", true);

    private final String label;
    private final boolean looksAtRanks;

    PolicyName(String label, boolean looksAtRanks) {
        this.label = label;
        this.looksAtRanks = looksAtRanks;
    }

    /** The policy of this name, if there is one. */
    public static Optional<PolicyName> find(String label) {
        return Arrays.stream(values()).filter(name -> name.label.equals(label)).findFirst();
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
