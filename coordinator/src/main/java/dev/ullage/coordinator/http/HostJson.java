package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import java.util.List;
import java.util.Optional;

/** What a node's host has beside its devices, and what jobs with reserved room asked of it. Pure. */
final class HostJson {
    private HostJson() {}

    /** Empty while the node does not say what its host has. */
    static Optional<ObjectNode> of(NodeStatus node) {
        return node.host().map(host -> json(host, asked(node)));
    }

    private static ObjectNode json(HostCapacity host, HostAmount asked) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put(
                "cpuMilli",
                host.cpuMilli().isPresent() ? (Integer) host.cpuMilli().getAsInt() : null);
        json.put("memoryBytes", host.memory().map(MemoryBytes::value).orElse(null));
        json.put("availableBytes", host.available().map(MemoryBytes::value).orElse(null));
        json.put("askedCpuMilli", asked.cpuMilli());
        json.put("askedMemoryBytes", asked.memory().value());
        json.put("enforcedBy", EnforcedBy.ADVISORY.label());
        return json;
    }

    /** A status has of each reservation only the part of the device that it stands at. */
    private static HostAmount asked(NodeStatus node) {
        return node.devices().stream()
                .flatMap(device -> device.ledger().stream())
                .flatMap(ledger -> ledger.reservations().orElse(List.of()).stream())
                .map(held -> asked(held.reservation()))
                .reduce(HostAmount.NONE, HostAmount::plus);
    }

    private static HostAmount asked(Reservation reservation) {
        return reservation
                .host()
                .map(each -> HostAmount.of(each, reservation.parts().get(0).ranks()))
                .orElse(HostAmount.NONE);
    }
}
