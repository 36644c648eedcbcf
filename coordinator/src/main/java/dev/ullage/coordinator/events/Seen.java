package dev.ullage.coordinator.events;

import dev.ullage.common.model.NodeId;
import dev.ullage.coordinator.leadership.Leadership;
import dev.ullage.coordinator.rollout.Rollouts;
import dev.ullage.coordinator.view.ClusterView;
import java.util.Collections;
import java.util.Set;

/**
 * What a coordinator knew at one moment.
 *
 * @param coordinator its node
 * @param draining the nodes on which nothing new is to be placed; looked up, never iterated
 */
public record Seen(
        NodeId coordinator, Leadership leadership, ClusterView view, Rollouts rollouts, Set<NodeId> draining) {

    /** When no node is draining. */
    public Seen(NodeId coordinator, Leadership leadership, ClusterView view, Rollouts rollouts) {
        this(coordinator, leadership, view, rollouts, Collections.emptySet());
    }
}
