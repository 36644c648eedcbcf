package dev.ullage.coordinator.view;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.NodeId;
import java.time.Instant;
import java.util.Collections;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One worker and the devices it owns.
 *
 * @param heardAt when anything of it came in last
 * @param devices in the order of their ids
 * @param host what it last said that its host has; empty: it does not say
 */
public record NodeView(
        NodeId node, Instant heardAt, NavigableMap<DeviceId, DeviceView> devices, Optional<HostCapacity> host) {

    public NodeView {
        devices = Collections.unmodifiableNavigableMap(new TreeMap<>(devices));
    }

    NodeView with(DeviceView device, Instant now) {
        NavigableMap<DeviceId, DeviceView> changed = new TreeMap<>(devices);
        changed.put(device.id(), device);
        return new NodeView(node, now, changed, host);
    }
}
