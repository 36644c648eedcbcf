package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.ToOperator.OomMove;
import dev.ullage.common.protocol.ToOperator.OomMoves;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** What was done about jobs that ran out of memory, as a part of the status. Pure. */
final class OomJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private OomJson() {}

    static ArrayNode moves(OomMoves moves) {
        ArrayNode json = NODES.arrayNode();
        moves.moves().forEach(move -> json.add(move(move)));
        return json;
    }

    private static ObjectNode move(OomMove move) {
        JobDirective directive = move.directive();
        ObjectNode json = NODES.objectNode();
        json.put("job", directive.job().value());
        json.put("sequence", directive.sequence());
        json.put("level", directive.level().name());
        json.put("state", move.state());
        json.put("step", directive.step());
        json.put("ageMillis", move.ageMillis());
        json.put(
                "appliedMillis",
                move.appliedMillis().isPresent() ? (Long) move.appliedMillis().getAsLong() : null);
        json.put("rank", directive.cause().rank());
        json.put("microBatch", known(directive.sizes().microBatch()));
        json.put("accumulation", known(directive.sizes().accumulation()));
        json.put("restart", directive.restart());
        json.put("usedBytes", directive.cause().used().map(MemoryBytes::value).orElse(null));
        json.put("reason", directive.cause().reason());
        return json;
    }

    private static @Nullable Integer known(OptionalInt value) {
        return value.isPresent() ? (Integer) value.getAsInt() : null;
    }
}
