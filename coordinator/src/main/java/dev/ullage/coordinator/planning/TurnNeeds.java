package dev.ullage.coordinator.planning;

import dev.ullage.config.BurstNeed;
import java.util.Optional;

/** Where it is known from what a rank needs in its burst and outside of it. */
@FunctionalInterface
public interface TurnNeeds {
    Optional<BurstNeed> of(RankRequest rank);

    /** As the settings say of its job. */
    static TurnNeeds declared() {
        return rank -> rank.terms().need();
    }
}
