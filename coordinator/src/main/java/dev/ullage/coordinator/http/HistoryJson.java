package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.protocol.ToOperator.History;
import dev.ullage.common.protocol.ToOperator.HistoryRow;
import dev.ullage.common.protocol.ToOperator.RankHistory;
import java.time.Instant;
import java.util.Optional;

/** The last minutes of one device, as JSON. Pure. */
final class HistoryJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private HistoryJson() {}

    static ObjectNode page(History history, HistoryFilter filter) {
        ObjectNode page = NODES.objectNode();
        page.put("schema", StatusJson.SCHEMA);
        page.put("device", filter.device().orElseThrow().value());
        page.put("total", history.total());
        page.put("offset", filter.query().offset());
        page.put("limit", filter.query().limit());
        ArrayNode items = page.putArray("items");
        history.rows().forEach(row -> items.add(row(row)));
        return page;
    }

    private static ObjectNode row(HistoryRow row) {
        ObjectNode json = NODES.objectNode();
        json.put("time", Instant.ofEpochMilli(row.atMillis()).toString());
        put(json, "usedBytes", row.used());
        put(json, "ceilingBytes", row.promised());
        put(json, "budgetInForceBytes", row.budget());
        ArrayNode ranks = json.putArray("ranks");
        row.ranks().forEach(rank -> ranks.add(rank(rank)));
        return json;
    }

    private static ObjectNode rank(RankHistory rank) {
        ObjectNode json = NODES.objectNode();
        json.put("job", rank.instance().rank().job().value());
        json.put("rank", rank.instance().rank().rank());
        json.put("pid", rank.instance().pid());
        json.put("phase", rank.phase().map(Enum::name).orElse(null));
        put(json, "usedBytes", rank.used());
        put(json, "limitBytes", rank.limit());
        put(json, "ceilingBytes", rank.ceiling());
        return json;
    }

    private static void put(ObjectNode json, String field, Optional<MemoryBytes> amount) {
        json.put(field, amount.map(MemoryBytes::value).orElse(null));
    }
}
