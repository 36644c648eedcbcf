package dev.ullage.cli.place;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import dev.ullage.coordinator.planning.balance.DeviceRoom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** What the nodes of a cluster could give, from the status document. Pure. */
record Offer(List<Host> hosts, List<String> unknown) {
    private static final Pattern XID = Pattern.compile("Xid \\d+ ");

    Offer {
        hosts = List.copyOf(hosts);
        unknown = List.copyOf(unknown);
    }

    /**
     * @param devices those whose memory is known, in the order of their index
     * @param figures what it has beside them
     */
    record Host(String node, List<Device> devices, HostFigures figures) {
        Host {
            devices = List.copyOf(devices);
        }
    }

    /**
     * @param most what all ranks together could ever be promised: foreign processes may end, the reserve stays
     * @param room the lesser of what the ledger has not promised and what was measured to be free
     * @param isInstance whether it is a MIG instance, with bytes of its own
     */
    record Device(String uuid, int index, String name, MemoryBytes most, DeviceRoom room, boolean isInstance) {
        /** For people. */
        String label() {
            return "device %d (%s)".formatted(index, name);
        }
    }

    /** Devices of which the memory or the reserve is not known are in {@code unknown}, and nowhere else. */
    static Offer of(JsonNode status) {
        List<Host> hosts = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        for (JsonNode node : status.path("nodes")) {
            List<Device> devices = new ArrayList<>();
            for (JsonNode device : node.path("devices")) {
                device(device, node.path("draining").asBoolean(false))
                        .ifPresentOrElse(
                                devices::add,
                                () -> unknown.add("%s device %s: its memory or its ledger is not known"
                                        .formatted(
                                                node.path("node").asText(),
                                                device.path("index").asText())));
            }
            hosts.add(new Host(node.path("node").asText(), devices, HostFigures.of(node)));
        }
        return new Offer(hosts, unknown);
    }

    private static Optional<Device> device(JsonNode json, boolean isDraining) {
        Optional<MemoryBytes> capacity = bytes(json, "allocatableBytes").filter(amount -> !amount.isZero());
        Optional<Share> reserve = json.path("reserveBasisPoints").isInt()
                ? Optional.of(new Share(json.path("reserveBasisPoints").intValue()))
                : Optional.empty();
        Optional<MemoryBytes> promised = bytes(json, "ceilingBytes");
        if (capacity.isEmpty() || reserve.isEmpty() || promised.isEmpty()) {
            return Optional.empty();
        }
        MemoryBytes all = capacity.orElseThrow();
        BudgetTerms terms = new BudgetTerms(all, reserve.orElseThrow(), foreign(json));
        MemoryBytes ledgerFree = bytes(json, "budgetInForceBytes")
                .map(terms.budget()::min)
                .orElse(terms.budget())
                .minusOrZero(promised.orElseThrow());
        String uuid = json.path("uuid").asText();
        return Optional.of(new Device(
                uuid,
                json.path("index").asInt(),
                json.path("name").asText(),
                all.times(reserve.orElseThrow().complement()),
                DeviceRoom.ofMemory(uuid, all, ledgerFree, bytes(json, "freeBytes"), out(json, isDraining)),
                json.path("mig").isObject()));
    }

    /** As its ledger plans with; an older coordinator says only what was measured. */
    private static MemoryBytes foreign(JsonNode json) {
        return bytes(json, "plannedForeignBytes")
                .or(() -> bytes(json, "foreignBytes"))
                .orElse(MemoryBytes.ZERO);
    }

    /** Why a device takes nothing. */
    private static List<String> out(JsonNode json, boolean isDraining) {
        List<String> reasons = new ArrayList<>();
        if (isDraining) {
            reasons.add("its node is draining");
        }
        String state = json.path("sampleState").asText("");
        if (!state.equals("fresh")) {
            reasons.add(state.isEmpty() || state.equals("null") ? "it was not read yet" : "its readings are " + state);
        }
        if (json.path("overBudget").asBoolean(false)) {
            reasons.add("more is promised on it than may be");
        }
        // A worker reports an Xid only where the card may need a reset; its other problems are parts it could not read.
        for (JsonNode problem : json.path("problems")) {
            if (XID.matcher(problem.asText()).lookingAt()) {
                reasons.add(problem.asText());
            }
        }
        return reasons;
    }

    private static Optional<MemoryBytes> bytes(JsonNode json, String field) {
        JsonNode value = json.path(field);
        return value.isIntegralNumber() && value.canConvertToLong() && value.longValue() >= 0
                ? Optional.of(MemoryBytes.of(value.longValue()))
                : Optional.empty();
    }
}
