package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The part of the status that is about turns. */
final class TurnsJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private TurnsJson() {}

    /** Who takes turns on a device; empty when nobody does. */
    static Optional<ObjectNode> of(LedgerReport ledger) {
        boolean isPool =
                ledger.wanted().pool().isPresent() || ledger.inForce().pool().isPresent();
        return ledger.turns()
                .filter(turns -> isPool || turns.plan().isPresent())
                .map(turns -> json(ledger, turns));
    }

    /** What the status says of one job: {@code has} a turn, {@code waits} for one, or null: neither. */
    static @Nullable String ofJob(JsonNode status, String job) {
        List<JsonNode> turns = new ArrayList<>();
        status.path("nodes").forEach(node -> node.path("devices").forEach(device -> turns.add(device.path("turns"))));
        return isNamed(turns, "holding", job) ? "has" : isNamed(turns, "waiting", job) ? "waits" : null;
    }

    private static boolean isNamed(List<JsonNode> turns, String part, String job) {
        return turns.stream()
                .flatMap(device -> device.path(part).valueStream())
                .anyMatch(one -> one.path("job").asText().equals(job));
    }

    private static ObjectNode json(LedgerReport ledger, TurnReport turns) {
        ObjectNode json = NODES.objectNode();
        put(json, "poolBytes", ledger.wanted().pool());
        put(json, "poolInForceBytes", ledger.inForce().pool());
        json.put("outBytes", turns.out().value());
        json.put(
                "ranks",
                turns.plan().map(TurnPlan::ranks).map(ranks -> ranks.size()).orElse(null));
        ArrayNode holding = json.putArray("holding");
        turns.holding()
                .forEach(holder ->
                        holding.addObject().put("job", holder.job().value()).put("heldMillis", holder.heldMillis()));
        ArrayNode waiting = json.putArray("waiting");
        turns.waiting().forEach(waiter -> waiting.addObject()
                .put("job", waiter.instance().rank().job().value())
                .put("rank", waiter.instance().rank().rank())
                .put("pid", waiter.instance().pid())
                .put("waitedMillis", waiter.waitedMillis()));
        json.put("given", turns.counts().given());
        json.put("waits", turns.counts().waits());
        json.put("waitedMillis", turns.counts().waitedMillis());
        json.put("missed", turns.counts().missed());
        return json;
    }

    private static void put(ObjectNode json, String field, Optional<MemoryBytes> amount) {
        json.put(field, amount.map(MemoryBytes::value).orElse(null));
    }
}
