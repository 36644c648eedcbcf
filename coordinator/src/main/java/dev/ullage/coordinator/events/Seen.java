package dev.ullage.coordinator.events;

import dev.ullage.common.model.NodeId;
import dev.ullage.coordinator.leadership.Leadership;
import dev.ullage.coordinator.rollout.Rollouts;
import dev.ullage.coordinator.view.ClusterView;

/**
 * What a coordinator knew at one moment.
 *
 * @param coordinator its node
 */
public record Seen(NodeId coordinator, Leadership leadership, ClusterView view, Rollouts rollouts) {}
