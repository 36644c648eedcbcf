package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Predicate;

/** The cluster in one line of figures, those that the live page begins with. Pure. */
final class ClusterJson {
    private ClusterJson() {}

    /** A sum is {@code null} while one of its parts is not known. */
    static ObjectNode of(ClusterStatus status, Instant now) {
        ObjectNode all = StatusJson.of(status, now);
        List<JsonNode> devices = new ArrayList<>();
        all.path("nodes").forEach(node -> node.path("devices").forEach(devices::add));
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("schema", StatusJson.SCHEMA);
        json.set("time", all.get("time"));
        json.set("coordinator", all.get("coordinator"));
        json.put("nodeCount", all.path("nodes").size());
        json.put("drainingCount", count(all.path("nodes"), node -> node.path("draining")
                .asBoolean(false)));
        json.put("deviceCount", devices.size());
        json.put(
                "rankCount",
                devices.stream().mapToInt(device -> device.path("ranks").size()).sum());
        put(json, "allocatableBytes", sum(devices, device -> amount(device, "allocatableBytes")));
        put(json, "ceilingBytes", sum(devices, device -> amount(device, "ceilingBytes")));
        put(json, "usedBytes", sum(devices, device -> amount(device, "usedBytes")));
        put(json, "reserveBytes", sum(devices, ClusterJson::reserve));
        json.put("overBudgetCount", count(devices, device -> device.path("overBudget")
                .asBoolean(false)));
        json.put("stalledCount", count(devices, device -> is(device, "rollout", "STALLED")));
        json.put("lostCount", count(devices, device -> is(device, "sampleState", "lost")));
        json.put("staleCount", count(devices, ClusterJson::isStale));
        json.set("errors", all.get("errors"));
        return json;
    }

    private static int count(Iterable<JsonNode> nodes, Predicate<JsonNode> wanted) {
        int count = 0;
        for (JsonNode node : nodes) {
            count += wanted.test(node) ? 1 : 0;
        }
        return count;
    }

    private static boolean is(JsonNode device, String field, String value) {
        return device.path(field).asText().equals(value);
    }

    /** Read too long ago, or something that matters was never heard; a lost one is counted as that. */
    private static boolean isStale(JsonNode device) {
        return !is(device, "sampleState", "lost")
                && (is(device, "sampleState", "stale")
                        || amount(device, "usedBytes").isEmpty()
                        || amount(device, "ceilingBytes").isEmpty());
    }

    /** What is kept free: what can be given out, less what may be promised and what others hold. */
    private static OptionalLong reserve(JsonNode device) {
        OptionalLong allocatable = amount(device, "allocatableBytes");
        JsonNode points = device.path("reserveInForceBasisPoints");
        if (allocatable.isEmpty() || !points.isInt()) {
            return OptionalLong.empty();
        }
        long left = Math.multiplyExact(allocatable.getAsLong(), Share.ONE_IN_BASIS_POINTS - points.intValue())
                / Share.ONE_IN_BASIS_POINTS;
        return OptionalLong.of(allocatable.getAsLong() - left);
    }

    private static OptionalLong amount(JsonNode device, String field) {
        JsonNode value = device.path(field);
        return value.isIntegralNumber() ? OptionalLong.of(value.longValue()) : OptionalLong.empty();
    }

    private static OptionalLong sum(List<JsonNode> devices, Function<JsonNode, OptionalLong> amount) {
        long sum = 0;
        for (JsonNode device : devices) {
            OptionalLong part = amount.apply(device);
            if (part.isEmpty()) {
                return part;
            }
            sum = Math.addExact(sum, part.getAsLong());
        }
        return OptionalLong.of(sum);
    }

    private static void put(ObjectNode json, String field, OptionalLong amount) {
        json.put(field, amount.isPresent() ? (Long) amount.getAsLong() : null);
    }
}
