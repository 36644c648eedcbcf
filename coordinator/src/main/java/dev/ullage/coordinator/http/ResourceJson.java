package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Pages of the status as flat lists. Pure. An item has the fields of {@link StatusJson}, and names what it belongs to;
 * what it contains is only counted.
 */
final class ResourceJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private ResourceJson() {}

    static ObjectNode of(ClusterStatus status, Resource resource, ResourceQuery query, Instant now) {
        ObjectNode all = StatusJson.of(status, now);
        List<ObjectNode> items =
                switch (resource) {
                    case NODES -> nodes(all);
                    case DEVICES -> devices(all);
                    case JOBS -> jobs(all);
                    case RANKS -> ranks(all);
                };
        List<ObjectNode> matching = items.stream().filter(query::matches).toList();
        ObjectNode page = NODES.objectNode();
        page.put("schema", StatusJson.SCHEMA);
        page.set("time", all.get("time"));
        page.put("total", matching.size());
        page.put("offset", query.offset());
        page.put("limit", query.limit());
        ArrayNode shown = page.putArray("items");
        matching.stream().skip(query.offset()).limit(query.limit()).forEach(shown::add);
        page.set("errors", all.get("errors"));
        return page;
    }

    private static List<ObjectNode> nodes(JsonNode all) {
        List<ObjectNode> items = new ArrayList<>();
        for (JsonNode node : all.path("nodes")) {
            ObjectNode item = NODES.objectNode();
            item.set("node", node.get("node"));
            item.set("ageMillis", node.get("ageMillis"));
            item.put("deviceCount", node.path("devices").size());
            items.add(item);
        }
        return items;
    }

    private static List<ObjectNode> devices(JsonNode all) {
        List<ObjectNode> items = new ArrayList<>();
        for (JsonNode node : all.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                ObjectNode item = NODES.objectNode();
                item.set("node", node.get("node"));
                item.setAll((ObjectNode) device);
                JsonNode ranks = item.remove("ranks");
                item.put("rankCount", ranks.isNull() ? null : (Integer) ranks.size());
                items.add(item);
            }
        }
        return items;
    }

    private static List<ObjectNode> ranks(JsonNode all) {
        List<ObjectNode> items = new ArrayList<>();
        for (JsonNode node : all.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                device.path("ranks").forEach(rank -> {
                    ObjectNode item = NODES.objectNode();
                    item.set("node", node.get("node"));
                    item.set("device", device.get("uuid"));
                    item.setAll((ObjectNode) rank);
                    items.add(item);
                });
            }
        }
        return items;
    }

    private static List<ObjectNode> jobs(JsonNode all) {
        Map<String, List<ObjectNode>> byJob = new TreeMap<>();
        ranks(all).forEach(rank -> byJob.computeIfAbsent(rank.path("job").asText(), job -> new ArrayList<>())
                .add(rank));
        List<ObjectNode> items = new ArrayList<>();
        byJob.forEach((job, ranks) -> items.add(job(job, ranks).put("skewPercent", skewPercent(all, job))));
        return items;
    }

    /** Of the phase that is most uneven. */
    private static @Nullable Integer skewPercent(JsonNode all, String job) {
        Integer most = null;
        for (JsonNode known : all.path("evenness").path("jobs")) {
            for (JsonNode skew : known.path("job").asText().equals(job) ? known.path("skew") : NODES.arrayNode()) {
                most = Math.max(skew.path("percent").asInt(), most == null ? 0 : most);
            }
        }
        return most;
    }

    /** A sum is known only when all of its parts are. */
    private static ObjectNode job(String job, List<ObjectNode> ranks) {
        ObjectNode item = NODES.objectNode();
        item.put("job", job);
        item.put("processCount", ranks.size());
        item.put(
                "rankCount",
                ranks.stream().map(rank -> rank.get("rank")).distinct().count());
        names(item.putArray("nodes"), ranks, "node");
        names(item.putArray("devices"), ranks, "device");
        List.of("targetBytes", "ceilingBytes", "usedBytes").forEach(field -> {
            boolean isKnown = ranks.stream().noneMatch(rank -> rank.path(field).isNull());
            long sum =
                    ranks.stream().mapToLong(rank -> rank.path(field).asLong()).sum();
            item.put(field, isKnown ? (Long) sum : null);
        });
        return item;
    }

    private static void names(ArrayNode into, List<ObjectNode> ranks, String field) {
        TreeSet<String> names = new TreeSet<>();
        ranks.forEach(rank -> names.add(rank.path(field).asText()));
        names.forEach(into::add);
    }
}
