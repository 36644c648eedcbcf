package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankEnforcement.Overhead;
import java.util.Optional;

/** How a rank is held to its limit, as part of {@link StatusJson}. Pure. */
final class EnforcementJson {
    private EnforcementJson() {}

    /** @param limit the highest of the newest order, on the whole process */
    static ObjectNode of(RankEnforcement how, Optional<MemoryBytes> limit) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        put(json, "processUsedBytes", how.processUsed());
        put(json, "overheadBytes", how.overhead().map(Overhead::bytes));
        json.put(
                "overheadProvisional", how.overhead().map(Overhead::provisional).orElse(null));
        put(json, "allocatorShareBytes", limit.flatMap(how::allocatorShare));
        put(json, "inForceBytes", how.inForce());
        json.put("overCeiling", how.overCeiling());
        ArrayNode whyNot = json.putArray("whyNotHigher");
        how.whyNotHigher()
                .forEach(reason ->
                        whyNot.addObject().put("rung", reason.rung().label()).put("reason", reason.reason()));
        return json;
    }

    private static void put(ObjectNode json, String field, Optional<MemoryBytes> amount) {
        json.put(field, amount.map(MemoryBytes::value).orElse(null));
    }
}
