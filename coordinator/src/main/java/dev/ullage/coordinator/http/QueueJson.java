package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.protocol.RequestCounts;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.ToOperator.Requests;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The queue as those who watch see it: its first, those that are on their way somewhere, and how many there are of all.
 * Bounded, however many wait. Pure.
 */
final class QueueJson {
    /** Of those that wait, and of the others; of more than the first 50 a coordinator estimates nothing either. */
    static final int MOST = 50;

    private static final Set<String> ON_THEIR_WAY =
            Set.of(RequestState.PLACING, RequestState.REQUEUED, RequestState.LOST);
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    /** Below this an estimated start is the same: it is worked out anew each second. */
    private static final long SAME_START_MILLIS = 2_000;

    private QueueJson() {}

    /**
     * @param shown {@code null} when the queue is not known
     * @param ageless the same without what grows by itself: what is compared
     */
    record Part(JsonNode shown, JsonNode ageless) {
        static final Part UNKNOWN = new Part(NullNode.instance, NullNode.instance);
    }

    /** @param answer empty: no coordinator said it; from an older one it has all requests and no counts */
    static Part of(Optional<Requests> answer, Instant now) {
        return answer.map(requests -> of(requests, now)).orElse(Part.UNKNOWN);
    }

    private static Part of(Requests requests, Instant now) {
        RequestCounts counts = requests.counts().orElseGet(() -> RequestCounts.of(requests.states()));
        ObjectNode shown = counts(counts);
        ObjectNode ageless = counts(counts);
        ArrayNode items = shown.putArray("items");
        ArrayNode agelessItems = ageless.putArray("items");
        for (RequestState state : first(requests.states())) {
            ObjectNode item = RequestJson.withoutRanks(state);
            items.add(item);
            agelessItems.add(ageless(item, now));
        }
        return new Part(shown, ageless);
    }

    private static List<RequestState> first(List<RequestState> states) {
        return Stream.concat(
                        some(states, state -> state.state().equals(RequestState.WAITING)),
                        some(states, state -> ON_THEIR_WAY.contains(state.state())))
                .toList();
    }

    private static Stream<RequestState> some(List<RequestState> states, Predicate<RequestState> wanted) {
        return states.stream().filter(wanted).limit(MOST);
    }

    private static ObjectNode counts(RequestCounts counts) {
        return NODES.objectNode()
                .put(RequestState.WAITING, counts.waiting())
                .put(RequestState.PLACING, counts.placing())
                .put(RequestState.PLACED, counts.placed())
                .put(RequestState.REQUEUED, counts.requeued())
                .put(RequestState.LOST, counts.lost());
    }

    private static ObjectNode ageless(ObjectNode item, Instant now) {
        ObjectNode copy = NODES.objectNode();
        copy.setAll(item);
        copy.remove(List.of("waitedMillis", "leaseMillis"));
        JsonNode startsIn = item.path("startsInMillis");
        if (startsIn.isIntegralNumber()) {
            copy.put("startsInMillis", (now.toEpochMilli() + startsIn.longValue()) / SAME_START_MILLIS);
        }
        return copy;
    }
}
