package dev.ullage.coordinator.journal;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.ullage.common.protocol.ToCoordinator.DecisionsQuery;
import dev.ullage.common.protocol.ToOperator.Decisions;
import dev.ullage.coordinator.decisions.Decision;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Decisions on their way to somebody who asked. Pure. */
public final class DecisionPages {
    /** A message between two nodes has at most 1 MiB, and a character at most three bytes. */
    static final int MAX_CHARACTERS = 256 * 1024;

    private DecisionPages() {}

    /** @param found newest first */
    public static Decisions answer(List<Decision> found, boolean isComplete, DecisionsQuery query) {
        List<String> records = new ArrayList<>();
        int characters = 0;
        int end = (int) Math.min(found.size(), (long) query.offset() + query.limit());
        for (int i = query.offset(); i < end; i++) {
            String line = line(found.get(i));
            characters += line.length();
            if (characters > MAX_CHARACTERS && !records.isEmpty()) {
                break;
            }
            records.add(line);
        }
        return new Decisions(records, found.size(), isComplete);
    }

    /** One that no message could carry comes without what it was made from. */
    private static String line(Decision decision) {
        String whole = DecisionJson.line(decision);
        return whole.length() <= MAX_CHARACTERS
                ? whole
                : DecisionJson.line(new Decision(
                        decision.stamp(), decision.kind(), decision.subject(), decision.reason(), Optional.empty()));
    }

    /** A page of the list, newest first. */
    public static ObjectNode json(Decisions decisions, int schema, int offset, int limit) {
        ObjectNode page = JsonNodeFactory.instance.objectNode();
        page.put("schema", schema);
        page.put("total", decisions.total());
        page.put("offset", offset);
        page.put("limit", limit);
        page.put("complete", decisions.isComplete());
        ArrayNode items = page.putArray("items");
        decisions.records().forEach(record -> items.addRawValue(new RawValue(record)));
        return page;
    }
}
