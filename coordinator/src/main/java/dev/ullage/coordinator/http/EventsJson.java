package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.protocol.ClusterEvent;
import dev.ullage.common.protocol.ToOperator.Events;
import java.time.Instant;
import java.util.List;

/** Events as JSON. Pure. */
final class EventsJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private EventsJson() {}

    /** One page of the list, oldest first. */
    static ObjectNode page(Events events, ResourceQuery query) {
        List<ObjectNode> matching = events.events().stream()
                .map(EventsJson::of)
                .filter(query::matches)
                .toList();
        ObjectNode page = NODES.objectNode();
        page.put("schema", StatusJson.SCHEMA);
        page.put("total", matching.size());
        page.put("offset", query.offset());
        page.put("limit", query.limit());
        page.put("complete", events.isComplete());
        ArrayNode items = page.putArray("items");
        matching.stream().skip(query.offset()).limit(query.limit()).forEach(items::add);
        return page;
    }

    /** What a reader of the stream gets. */
    static ObjectNode message(List<ClusterEvent> events, boolean isComplete) {
        ObjectNode json = NODES.objectNode();
        json.put("complete", isComplete);
        ArrayNode items = json.putArray("events");
        events.forEach(event -> items.add(of(event)));
        return json;
    }

    static ObjectNode of(ClusterEvent event) {
        ObjectNode json = NODES.objectNode();
        json.put("id", event.id().toString());
        json.put("time", Instant.ofEpochMilli(event.epochMillis()).toString());
        json.put("kind", event.kind());
        json.put("severity", event.severity().label());
        ClusterEvent.About about = event.about();
        json.put("node", about.node().map(Object::toString).orElse(null));
        json.put("device", about.device().map(Object::toString).orElse(null));
        json.put("job", about.job().map(Object::toString).orElse(null));
        json.put("rank", about.rank().isPresent() ? (Integer) about.rank().getAsInt() : null);
        json.put("text", event.text());
        return json;
    }
}
