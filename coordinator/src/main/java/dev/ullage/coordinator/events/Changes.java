package dev.ullage.coordinator.events;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.coordinator.rollout.Rollout;
import dev.ullage.coordinator.view.DeviceView;
import dev.ullage.coordinator.view.NodeView;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What changed between two moments of an active coordinator. Pure. */
final class Changes {
    private final Seen before;
    private final Seen after;
    private final List<Change> changes = new ArrayList<>();

    private Changes(Seen before, Seen after) {
        this.before = before;
        this.after = after;
    }

    /** In a defined order: nodes, then devices by their ids, then rollouts. */
    static List<Change> between(Seen before, Seen after) {
        Changes changes = new Changes(before, after);
        if (before.view() != after.view()) {
            changes.nodes();
            changes.devices();
        }
        if (before.rollouts() != after.rollouts()) {
            changes.rollouts();
        }
        return changes.changes;
    }

    private void nodes() {
        for (NodeView node : after.view().nodes()) {
            if (before.view().node(node.node()).isEmpty()) {
                changes.add(Change.info(
                        EventKind.NODE_JOINED,
                        About.node(node.node()),
                        "node " + node.node() + " joined with "
                                + DeviceChanges.count(node.devices().size(), "device")));
            }
        }
        for (NodeView node : before.view().nodes()) {
            if (after.view().node(node.node()).isEmpty()) {
                changes.add(Change.warning(
                        EventKind.NODE_FORGOTTEN,
                        About.node(node.node()),
                        "node " + node.node() + " was silent since " + node.heardAt()
                                + " and is no longer shown, with "
                                + DeviceChanges.count(node.devices().size(), "device")));
            }
        }
    }

    private void devices() {
        for (DeviceView device : before.view().devices()) {
            if (after.view().device(device.id()).isEmpty() && isKnown(after, device.node())) {
                changes.add(Change.warning(
                        EventKind.DEVICE_GONE,
                        About.device(device.node(), device.id()),
                        DeviceChanges.name(device) + " is gone: its node does not announce it any more"));
            }
        }
        // Both in the order of the ids: each is walked through once.
        List<DeviceView> known = before.view().devices();
        int next = 0;
        for (DeviceView device : after.view().devices()) {
            while (next < known.size() && known.get(next).id().compareTo(device.id()) < 0) {
                next++;
            }
            boolean isKnown = next < known.size() && known.get(next).id().equals(device.id());
            device(isKnown ? Optional.of(known.get(next)) : Optional.empty(), device);
        }
    }

    private void device(Optional<DeviceView> earlier, DeviceView device) {
        if (earlier.isEmpty() && isKnown(before, device.node())) {
            changes.add(Change.info(
                    EventKind.DEVICE_FOUND,
                    About.device(device.node(), device.id()),
                    DeviceChanges.name(device) + " (" + device.info().name() + ") appeared"));
        }
        if (DeviceChanges.maySayAnything(earlier, device)) {
            changes.addAll(DeviceChanges.between(
                    earlier, device, reason(device.id()), after.draining().contains(device.node())));
        }
        changes.addAll(RankAlarms.between(earlier, device));
    }

    private String reason(DeviceId device) {
        return after.rollouts()
                .of(device)
                .map(rollout -> rollout.plan().reason().text())
                .orElse("an order of an earlier coordinator");
    }

    private void rollouts() {
        after.rollouts().devices().forEach(device -> {
            Rollout rollout = after.rollouts().of(device).orElseThrow();
            if (rollout.state() == RolloutState.STALLED && !wasStalled(device)) {
                changes.add(Change.warning(
                        EventKind.ROLLOUT_STALLED,
                        after.view()
                                .device(device)
                                .map(known -> About.device(known.node(), device))
                                .orElse(About.CLUSTER),
                        "revision " + rollout.revision() + " of "
                                + after.view()
                                        .device(device)
                                        .map(DeviceChanges::name)
                                        .orElse(device.value()) + " is stalled: " + rollout.explain()));
            }
        });
    }

    private boolean wasStalled(DeviceId device) {
        Optional<Long> revision = after.rollouts().of(device).map(Rollout::revision);
        return before.rollouts()
                .of(device)
                .filter(rollout -> rollout.state() == RolloutState.STALLED)
                .map(Rollout::revision)
                .equals(revision);
    }

    private static boolean isKnown(Seen seen, NodeId node) {
        return seen.view().node(node).isPresent();
    }
}
