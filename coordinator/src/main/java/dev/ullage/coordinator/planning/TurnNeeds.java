package dev.ullage.coordinator.planning;

import dev.ullage.config.BurstNeed;
import dev.ullage.config.TurnNeedSettings;
import java.util.Optional;

/** Where it is known from what a rank needs in its burst and outside of it. */
@FunctionalInterface
public interface TurnNeeds {
    Need of(RankRequest rank);

    /**
     * @param burst empty: not known, and the rank takes no turns
     * @param explanation where it is from, or why it is not known; for people
     */
    record Need(Optional<BurstNeed> burst, String explanation) {}

    static TurnNeeds by(TurnNeedSettings settings) {
        return settings.areObserved() ? declaredOrObserved() : declared();
    }

    /** As the settings say of its job. */
    static TurnNeeds declared() {
        return rank -> rank.terms()
                .need()
                .map(need -> new Need(Optional.of(need), ""))
                .orElseGet(() -> new Need(
                        Optional.empty(),
                        "what job %1$s needs is not known (ullage.limits.jobs.%1$s.persistent and .peak)"
                                .formatted(rank.instance().rank().job())));
    }

    /** As the settings say of its job; where they do not, what its last steps allocated. */
    static TurnNeeds declaredOrObserved() {
        return rank -> rank.terms().need().isPresent()
                ? declared().of(rank)
                : rank.seen()
                        .map(seen -> seen.need().isPresent()
                                ? new Need(seen.need(), "; observed: " + seen.explanation())
                                : new Need(Optional.empty(), unknown(rank, seen.explanation())))
                        .orElseGet(() -> new Need(Optional.empty(), unknown(rank, "nobody follows what it does")));
    }

    private static String unknown(RankRequest rank, String why) {
        return "what %s needs is not known yet: %s".formatted(rank.instance().rank(), why);
    }
}
