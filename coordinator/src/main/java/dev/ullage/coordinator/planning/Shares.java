package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import java.util.List;

/** What a policy chose: a limit for every rank it was asked about, in the order in which growth is to be considered. */
public record Shares(List<RankShare> ranks) {
    public Shares {
        ranks = List.copyOf(ranks);
    }

    /** One rank's limit and why. */
    public record RankShare(RankRequest rank, MemoryBytes limit, PlanReason reason) {}
}
