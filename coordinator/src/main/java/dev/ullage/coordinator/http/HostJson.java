package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import java.util.Optional;

/** What a node's host has beside its devices, and what jobs with reserved room asked of it. Pure. */
final class HostJson {
    private HostJson() {}

    /** Empty while the node does not say what its host has. */
    static Optional<ObjectNode> of(NodeStatus node) {
        return node.host().map(host -> json(host, node.askedOfHost()));
    }

    private static ObjectNode json(HostCapacity host, Optional<HostAmount> asked) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put(
                "cpuMilli",
                host.cpuMilli().isPresent() ? (Integer) host.cpuMilli().getAsInt() : null);
        json.put("memoryBytes", host.memory().map(MemoryBytes::value).orElse(null));
        json.put("availableBytes", host.available().map(MemoryBytes::value).orElse(null));
        json.put("askedCpuMilli", asked.map(HostAmount::cpuMilli).orElse(null));
        json.put(
                "askedMemoryBytes",
                asked.map(HostAmount::memory).map(MemoryBytes::value).orElse(null));
        json.put("enforcedBy", EnforcedBy.ADVISORY.label());
        return json;
    }
}
