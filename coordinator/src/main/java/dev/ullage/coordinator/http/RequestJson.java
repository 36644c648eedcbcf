package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.RequestState.RankPlace;
import dev.ullage.common.protocol.RequestState.Waiting;
import dev.ullage.common.protocol.ToOperator.Requests;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Requests as JSON: what is not known is null. */
final class RequestJson {
    private RequestJson() {}

    static ObjectNode list(List<RequestState> states) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("schema", StatusJson.SCHEMA);
        ArrayNode items = json.putArray("items");
        states.forEach(state -> put(items.addObject(), state));
        return json;
    }

    /** @param requests the answer about this one */
    static ObjectNode of(RequestState state, Requests requests) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("schema", StatusJson.SCHEMA);
        put(json, state);
        json.put("room", requests.room().orElse(null));
        json.put(
                "ranMillis",
                requests.ranMillis().isPresent() ? (Long) requests.ranMillis().getAsLong() : null);
        return json;
    }

    /** One of many: where its ranks are is left out. */
    static ObjectNode withoutRanks(RequestState state) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        putRequest(json, state);
        return json;
    }

    private static void put(ObjectNode json, RequestState state) {
        putRequest(json, state);
        json.putNull("room");
        json.putNull("ranMillis");
        ArrayNode ranks = json.putArray("ranks");
        state.ranks().forEach(rank -> put(ranks.addObject(), rank));
    }

    private static void putRequest(ObjectNode json, RequestState state) {
        Optional<Waiting> waiting = state.waiting();
        OptionalInt position = waiting.map(Waiting::position).orElse(OptionalInt.empty());
        OptionalLong startsIn = waiting.map(Waiting::startsInMillis).orElse(OptionalLong.empty());
        json.put("job", state.request().job().value());
        json.put("state", state.state());
        json.put("priority", state.request().priority().label());
        json.put("wants", state.request().text());
        json.put("rankCount", state.request().ranks());
        json.put("deviceCount", state.request().devices());
        json.put("position", position.isPresent() ? (Integer) position.getAsInt() : null);
        json.put("waitsFor", waiting.map(Waiting::waitsFor).orElse(null));
        json.put("startsInMillis", startsIn.isPresent() ? (Long) startsIn.getAsLong() : null);
        json.put("basis", waiting.map(Waiting::basis).orElse(null));
        json.put("waitedMillis", state.waitedMillis());
        json.put("leaseMillis", state.leaseMillis());
        ArrayNode notes = json.putArray("notes");
        state.notes().forEach(notes::add);
    }

    private static void put(ObjectNode json, RankPlace rank) {
        json.put("rank", rank.rank());
        json.put("node", rank.node().value());
        json.put("localRank", rank.localRank());
        json.put("device", rank.device().value());
        json.put("index", rank.index().isPresent() ? (Integer) rank.index().getAsInt() : null);
        json.put("bytes", rank.amount().value());
    }
}
