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
import java.util.Optional;
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
                    case PLAN -> plans(all);
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
            item.set("draining", node.get("draining"));
            item.set("host", node.get("host"));
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

    /** Of each device what it is to look like, why, and how far that is. */
    private static List<ObjectNode> plans(JsonNode all) {
        Map<String, JsonNode> newest = new TreeMap<>();
        all.path("rollouts")
                .forEach(rollout -> newest.put(rollout.path("device").asText(), rollout));
        List<ObjectNode> items = new ArrayList<>();
        for (JsonNode node : all.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                ObjectNode item = NODES.objectNode();
                item.set("node", node.get("node"));
                item.set("device", device.get("uuid"));
                item.set("rollout", device.get("rollout"));
                JsonNode rollout = Optional.ofNullable(
                                newest.get(device.path("uuid").asText()))
                        .orElseGet(NODES::objectNode);
                List.of("revision", "millis", "reason").forEach(field -> item.set(field, rollout.get(field)));
                item.set("heldBack", device.get("heldBack"));
                item.set("reserveBasisPoints", device.get("reserveBasisPoints"));
                items.add(withRanks(item, device));
            }
        }
        return items;
    }

    private static ObjectNode withRanks(ObjectNode item, JsonNode device) {
        ArrayNode ranks = item.putArray("ranks");
        for (JsonNode rank : device.path("ranks")) {
            ObjectNode planned = ranks.addObject();
            List.of(
                            "job",
                            "rank",
                            "pid",
                            "policy",
                            "priority",
                            "shareBasisPoints",
                            "targetBytes",
                            "ceilingBytes",
                            "settled",
                            "explanation")
                    .forEach(field -> planned.set(field, rank.get(field)));
        }
        return item;
    }

    private static List<ObjectNode> jobs(JsonNode all) {
        Map<String, List<ObjectNode>> byJob = new TreeMap<>();
        ranks(all).forEach(rank -> byJob.computeIfAbsent(rank.path("job").asText(), job -> new ArrayList<>())
                .add(rank));
        List<ObjectNode> items = new ArrayList<>();
        byJob.forEach((job, ranks) -> items.add(
                job(job, ranks).put("skewPercent", skewPercent(all, job)).put("turn", TurnsJson.ofJob(all, job))));
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
        names(item.putArray("policies"), ranks, "policy");
        names(item.putArray("priorities"), ranks, "priority");
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
        ranks.stream()
                .filter(rank -> rank.path(field).isTextual())
                .forEach(rank -> names.add(rank.path(field).asText()));
        names.forEach(into::add);
    }
}
