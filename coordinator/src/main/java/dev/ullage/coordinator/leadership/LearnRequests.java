package dev.ullage.coordinator.leadership;

import dev.ullage.common.model.NodeId;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** When each worker was last asked to report, so that none is asked at every message. Immutable, pure, soft. */
public final class LearnRequests {
    public static final LearnRequests NONE = new LearnRequests(new TreeMap<>());

    private final NavigableMap<NodeId, Instant> askedAt;

    private LearnRequests(NavigableMap<NodeId, Instant> askedAt) {
        this.askedAt = askedAt;
    }

    public boolean wasAsked(NodeId node) {
        return askedAt.containsKey(node);
    }

    public LearnRequests asked(NodeId node, Instant now) {
        NavigableMap<NodeId, Instant> changed = new TreeMap<>(askedAt);
        changed.put(node, now);
        return new LearnRequests(changed);
    }

    public LearnRequests forgetting(NodeId node) {
        NavigableMap<NodeId, Instant> changed = new TreeMap<>(askedAt);
        changed.remove(node);
        return new LearnRequests(changed);
    }

    /** Those of {@code missing} that were never asked, or not for {@code askAgainAfter}. */
    public List<NodeId> due(Collection<NodeId> missing, Instant now, Duration askAgainAfter) {
        return missing.stream()
                .filter(node -> Optional.ofNullable(askedAt.get(node))
                        .map(at -> !at.plus(askAgainAfter).isAfter(now))
                        .orElse(true))
                .toList();
    }
}
