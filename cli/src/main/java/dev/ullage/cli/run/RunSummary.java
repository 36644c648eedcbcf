package dev.ullage.cli.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.show.RunTable;
import dev.ullage.cli.show.Terminal;
import dev.ullage.common.model.MemoryBytes;
import java.util.Comparator;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Who of a job used what: the last thing the status said of each of its processes. What happened since then, at most
 * one interval of looking, is not in it. Immutable.
 */
record RunSummary(String job, NavigableMap<Key, Seen> ranks) {
    /** A restarted rank is another process. */
    record Key(int rank, String node, long pid) implements Comparable<Key> {
        private static final Comparator<Key> ORDER =
                Comparator.comparingInt(Key::rank).thenComparing(Key::node).thenComparingLong(Key::pid);

        @Override
        public int compareTo(Key other) {
            return ORDER.compare(this, other);
        }
    }

    /**
     * @param limit the last one ordered
     * @param changes how often it was ordered another one after its first
     */
    record Seen(
            String device,
            int index,
            Optional<MemoryBytes> limit,
            Optional<MemoryBytes> peakReserved,
            Optional<Long> refusals,
            Optional<Long> changes,
            Optional<String> enforcedBy) {
        /** A figure that is not said any more stays as it was: a rank that leaves takes its sample with it. */
        private static Seen newer(Seen old, Seen now) {
            return new Seen(
                    now.device(),
                    now.index(),
                    now.limit().or(old::limit),
                    now.peakReserved().or(old::peakReserved),
                    now.refusals().or(old::refusals),
                    now.changes().or(old::changes),
                    now.enforcedBy().or(old::enforcedBy));
        }
    }

    static RunSummary none(String job) {
        return new RunSummary(job, new TreeMap<>());
    }

    RunSummary seen(JsonNode status) {
        NavigableMap<Key, Seen> now = new TreeMap<>(ranks);
        for (JsonNode node : status.path("nodes")) {
            String name = node.path("node").asText();
            node.path("devices").forEach(device -> add(now, name, device));
        }
        return new RunSummary(job, now);
    }

    private void add(NavigableMap<Key, Seen> seen, String node, JsonNode device) {
        for (JsonNode rank : device.path("ranks")) {
            if (rank.path("job").asText().equals(job)) {
                Key key = new Key(
                        rank.path("rank").asInt(), node, rank.path("pid").asLong());
                seen.merge(key, of(device, rank), Seen::newer);
            }
        }
    }

    private static Seen of(JsonNode device, JsonNode rank) {
        Optional<Long> sequence = number(rank, "sequence").filter(value -> value > 0);
        return new Seen(
                device.path("uuid").asText(),
                device.path("index").asInt(),
                number(rank, "targetBytes").map(MemoryBytes::of),
                number(rank, "peakReservedBytes").map(MemoryBytes::of),
                number(rank, "refusals"),
                sequence.map(value -> value - 1),
                Optional.ofNullable(rank.path("enforcedBy").textValue()));
    }

    private static Optional<Long> number(JsonNode json, String field) {
        JsonNode value = json.path(field);
        return value.isIntegralNumber() && value.longValue() >= 0 ? Optional.of(value.longValue()) : Optional.empty();
    }

    /** For people. */
    String text(int exitCode, Terminal terminal) {
        StringBuilder text = new StringBuilder("ullage: job " + job + " ended with " + exitCode);
        if (ranks.isEmpty()) {
            return text.append("; no rank of it was ever seen\n").toString();
        }
        return text.append('\n')
                .append(RunTable.render(json(exitCode), terminal))
                .toString();
    }

    ObjectNode json(int exitCode) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("schema", 1);
        json.put("job", job);
        json.put("exitCode", exitCode);
        ArrayNode list = json.putArray("ranks");
        ranks.forEach((key, seen) -> {
            ObjectNode rank = list.addObject();
            rank.put("rank", key.rank());
            rank.put("node", key.node());
            rank.put("pid", key.pid());
            rank.put("device", seen.device());
            rank.put("deviceIndex", seen.index());
            rank.put("limitBytes", seen.limit().map(MemoryBytes::value).orElse(null));
            rank.put(
                    "peakReservedBytes",
                    seen.peakReserved().map(MemoryBytes::value).orElse(null));
            rank.put("refusals", seen.refusals().orElse(null));
            rank.put("limitChanges", seen.changes().orElse(null));
            rank.put("enforcedBy", seen.enforcedBy().orElse(null));
        });
        return json;
    }
}
