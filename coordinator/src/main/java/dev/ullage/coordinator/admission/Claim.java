package dev.ullage.coordinator.admission;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.ReservedPart;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/** What a job takes: memory of devices, and what its ranks ask for on the hosts of these. */
record Claim(NavigableMap<DeviceId, MemoryBytes> devices, NavigableMap<NodeId, HostAmount> hosts) {
    Claim {
        devices = Collections.unmodifiableNavigableMap(new TreeMap<>(devices));
        hosts = Collections.unmodifiableNavigableMap(new TreeMap<>(hosts));
    }

    static Claim of(List<ReservedPart> parts, HostNeed each) {
        NavigableMap<DeviceId, MemoryBytes> devices = new TreeMap<>();
        NavigableMap<NodeId, HostAmount> hosts = new TreeMap<>();
        for (ReservedPart part : parts) {
            devices.put(part.device(), part.amount());
            if (!each.isNone()) {
                hosts.merge(part.node(), HostAmount.of(each, part.ranks()), HostAmount::plus);
            }
        }
        return new Claim(devices, hosts);
    }

    MemoryBytes on(DeviceId device) {
        return devices.getOrDefault(device, MemoryBytes.ZERO);
    }

    HostAmount on(NodeId node) {
        return hosts.getOrDefault(node, HostAmount.NONE);
    }
}
