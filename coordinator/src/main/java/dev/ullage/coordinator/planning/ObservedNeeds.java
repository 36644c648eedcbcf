package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.config.BurstNeed;
import java.util.Collection;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * What each rank needs in its burst and outside of it, by what its last steps allocated. Owned by the coordinator,
 * which shows it the samples; the planner reads it. Soft: after a takeover it starts anew, and the workers still know
 * the last steps.
 */
public final class ObservedNeeds {
    private final Share slack;
    private final MemoryBytes minimum;
    private final NavigableMap<RankInstance, ObservedNeed> ranks = new TreeMap<>();

    /**
     * @param slack what is added to what was observed
     * @param minimum the smallest limit a rank may be given
     */
    public ObservedNeeds(Share slack, MemoryBytes minimum) {
        this.slack = slack;
        this.minimum = minimum;
    }

    /**
     * @param need empty: not known yet
     * @param explanation what it follows from, or what is missing
     */
    public record Seen(Optional<BurstNeed> need, String explanation) {}

    public void observe(Collection<RankSample> samples) {
        for (RankSample sample : samples) {
            RankInstance instance = sample.instance();
            ObservedNeed before = ranks.get(instance);
            if (before == null) {
                // A rank that was started again is another process, and its predecessor is gone.
                RankInstance.allOf(ranks, instance.rank()).clear();
            }
            ObservedNeed known = before == null ? ObservedNeed.unknown(slack, minimum) : before;
            ranks.put(instance, known.after(sample));
        }
    }

    public boolean isEmpty() {
        return ranks.isEmpty();
    }

    /** Whether there was any that is gone. */
    public boolean forgetting(Predicate<RankInstance> isGone) {
        return ranks.keySet().removeIf(isGone);
    }

    public Seen of(RankInstance rank) {
        return Optional.ofNullable(ranks.get(rank))
                .map(ObservedNeed::seen)
                .orElseGet(() -> new Seen(Optional.empty(), "no sample tells of it"));
    }
}
