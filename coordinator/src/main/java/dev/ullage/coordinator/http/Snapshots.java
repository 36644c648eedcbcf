package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.coordinator.http.QueueJson.Part;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The status as it goes to those who watch: once in full, then only the devices that changed. Pure; immutable.
 *
 * <p>A device has the fields of {@link StatusJson} and the name of its node. Ages grow by themselves: a device of which
 * nothing else changed is only named with the age of its sample, a queue of which nothing else changed is left out, and
 * so is what a host has where that is much as it was.
 */
final class Snapshots {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    static final Snapshots NONE =
            new Snapshots(NODES.objectNode(), new TreeMap<>(), new TreeMap<>(), Part.UNKNOWN, HostParts.NONE);

    private static final String SAMPLE_AGE = "sampleAgeMillis";
    private static final String AGE = "ageMillis";
    private static final String QUEUE = "queue";
    private static final String HOSTS = "hosts";

    /** Everything that is not about one device. */
    private final ObjectNode rest;
    /** By UUID. */
    private final NavigableMap<String, ObjectNode> devices;
    /** The same without what grows by itself: what is compared. */
    private final NavigableMap<String, ObjectNode> ageless;

    private final Part queue;
    private final HostParts hosts;

    private Snapshots(
            ObjectNode rest,
            NavigableMap<String, ObjectNode> devices,
            NavigableMap<String, ObjectNode> ageless,
            Part queue,
            HostParts hosts) {
        this.queue = queue;
        this.hosts = hosts;
        this.rest = rest;
        this.devices = devices;
        this.ageless = ageless;
    }

    /** @param status from {@link StatusJson}; it is taken apart */
    static Snapshots of(ObjectNode status, Part queue) {
        NavigableMap<String, ObjectNode> devices = new TreeMap<>();
        NavigableMap<String, ObjectNode> ageless = new TreeMap<>();
        ArrayNode nodes = NODES.arrayNode();
        HostParts hosts = HostParts.of(status.path("nodes"));
        for (JsonNode node : status.path("nodes")) {
            ObjectNode shown = nodes.addObject()
                    .put("node", node.path("node").asText())
                    .put(AGE, node.path(AGE).asLong());
            shown.set("draining", node.get("draining"));
            for (JsonNode device : node.path("devices")) {
                ObjectNode item = NODES.objectNode();
                item.set("node", node.get("node"));
                item.setAll((ObjectNode) device);
                String uuid = device.path("uuid").asText();
                devices.put(uuid, item);
                ageless.put(uuid, withoutAges(item));
            }
        }
        status.remove("rollouts");
        status.set("nodes", nodes);
        return new Snapshots(status, devices, ageless, queue, hosts);
    }

    /** All of it. */
    ObjectNode full() {
        ObjectNode json = NODES.objectNode().put("full", true);
        json.setAll(rest);
        json.set(QUEUE, queue.shown());
        json.set(HOSTS, hosts.since(HostParts.NONE));
        ArrayNode all = json.putArray("devices");
        devices.values().forEach(all::add);
        return json;
    }

    /** What somebody lacks who knows {@code before}. */
    ObjectNode since(Snapshots before) {
        ObjectNode json = NODES.objectNode().put("full", false);
        json.setAll(rest);
        if (!queue.ageless().equals(before.queue.ageless())) {
            json.set(QUEUE, queue.shown());
        }
        json.set(HOSTS, hosts.since(before.hosts));
        ArrayNode changed = json.putArray("devices");
        ObjectNode ages = json.putObject("ages");
        devices.forEach((uuid, device) -> {
            if (Objects.equals(ageless.get(uuid), before.ageless.get(uuid))) {
                ages.set(uuid, device.get(SAMPLE_AGE));
            } else {
                changed.add(device);
            }
        });
        ArrayNode gone = json.putArray("gone");
        before.devices.keySet().stream()
                .filter(uuid -> !devices.containsKey(uuid))
                .forEach(gone::add);
        return json;
    }

    private static ObjectNode withoutAges(ObjectNode device) {
        ObjectNode copy = NODES.objectNode();
        copy.setAll(device);
        copy.remove(SAMPLE_AGE);
        if (device.path("ranks").isArray()) {
            ArrayNode ranks = copy.putArray("ranks");
            device.path("ranks").forEach(rank -> {
                ObjectNode ageless = NODES.objectNode();
                ageless.setAll((ObjectNode) rank);
                ageless.remove(AGE);
                ranks.add(ageless);
            });
        }
        return copy;
    }
}
