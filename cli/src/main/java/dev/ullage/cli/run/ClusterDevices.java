package dev.ullage.cli.run;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The devices of the cluster and what is promised on them, from the status document. Pure. */
record ClusterDevices(List<Host> hosts) {
    ClusterDevices {
        hosts = List.copyOf(hosts);
    }

    /** @param draining whether nothing new is to be placed there */
    record Host(String node, List<Device> devices, boolean draining) {
        Host {
            devices = List.copyOf(devices);
        }

        Optional<Device> device(DeviceInfo info) {
            return devices.stream()
                    .filter(device -> device.info().id().equals(info.id()))
                    .findFirst();
        }

        List<DeviceInfo> infos() {
            return devices.stream().map(Device::info).toList();
        }
    }

    /**
     * @param terms empty while the coordinator has not heard of the device's ledger
     * @param promised what its ranks may still believe together
     */
    record Device(DeviceInfo info, Optional<BudgetTerms> terms, Optional<MemoryBytes> promised) {
        /** The most that all ranks together could ever be promised: foreign processes may end, the reserve stays. */
        Optional<MemoryBytes> most() {
            return terms.map(known -> known.allocatable().times(known.reserve().complement()));
        }

        /** What could be promised now. */
        Optional<MemoryBytes> free() {
            return terms.flatMap(known -> promised.map(taken -> known.budget().minusOrZero(taken)));
        }

        /** For people. */
        String label() {
            return "device " + info.index() + " (" + info.name() + ")";
        }
    }

    static ClusterDevices of(JsonNode status) {
        List<Host> hosts = new ArrayList<>();
        for (JsonNode node : status.path("nodes")) {
            List<Device> devices = new ArrayList<>();
            node.path("devices").forEach(device -> devices.add(device(device)));
            if (!devices.isEmpty()) {
                hosts.add(new Host(
                        node.path("node").asText(),
                        devices,
                        node.path("draining").asBoolean(false)));
            }
        }
        return new ClusterDevices(hosts);
    }

    private static Device device(JsonNode json) {
        DeviceInfo info = new DeviceInfo(
                new DeviceId(json.path("uuid").asText()),
                json.path("index").asInt(),
                json.path("name").asText(),
                kind(json.path("kind").asText()),
                Optional.ofNullable(json.path("pciBusId").textValue()));
        Optional<Share> reserve = json.path("reserveBasisPoints").isInt()
                ? Optional.of(new Share(json.path("reserveBasisPoints").intValue()))
                : Optional.empty();
        Optional<BudgetTerms> terms = bytes(json, "allocatableBytes")
                .flatMap(allocatable -> reserve.map(share -> new BudgetTerms(allocatable, share, foreign(json))));
        return new Device(info, terms, bytes(json, "ceilingBytes"));
    }

    /** As its ledger plans with; an older coordinator says only what was measured. */
    private static MemoryBytes foreign(JsonNode json) {
        return bytes(json, "plannedForeignBytes")
                .or(() -> bytes(json, "foreignBytes"))
                .orElse(MemoryBytes.ZERO);
    }

    /** A kind that only a newer coordinator knows is a device with memory of its own as far as this is concerned. */
    private static DeviceKind kind(String label) {
        for (DeviceKind kind : DeviceKind.values()) {
            if (kind.name().equals(label.toUpperCase(Locale.ROOT))) {
                return kind;
            }
        }
        return DeviceKind.DISCRETE;
    }

    private static Optional<MemoryBytes> bytes(JsonNode json, String field) {
        JsonNode value = json.path(field);
        return value.isIntegralNumber() && value.canConvertToLong() && value.longValue() >= 0
                ? Optional.of(MemoryBytes.of(value.longValue()))
                : Optional.empty();
    }

    /** Those on which something new may be placed. */
    ClusterDevices withoutDraining() {
        return new ClusterDevices(
                hosts.stream().filter(host -> !host.draining()).toList());
    }

    int deviceCount() {
        return hosts.stream().mapToInt(host -> host.devices().size()).sum();
    }

    /** This host: the node of its name, or the only one there is. */
    Optional<Host> here(String nodeName) {
        return hosts.stream()
                .filter(host -> host.node().equals(nodeName))
                .findFirst()
                .or(() -> hosts.size() == 1 ? Optional.of(hosts.get(0)) : Optional.empty());
    }
}
