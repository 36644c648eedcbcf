package dev.ullage.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the demo has seen of the cluster, status by status. Not thread safe. */
final class DemoWatch {
    private final Map<String, DeviceSeen> devices = new TreeMap<>();

    /** A device, added up over all statuses. */
    static final class DeviceSeen {
        private final String node;
        private final int index;
        private final String uuid;
        private int mostRanks;
        private long highestPromised;
        private long highestBudget;
        private long overCommits;
        private long sent;
        private long confirmed;
        private long repeated;
        private long refused;

        private DeviceSeen(String node, int index, String uuid) {
            this.node = node;
            this.index = index;
            this.uuid = uuid;
        }

        String node() {
            return node;
        }

        int index() {
            return index;
        }

        String uuid() {
            return uuid;
        }

        int mostRanks() {
            return mostRanks;
        }

        long highestPromised() {
            return highestPromised;
        }

        long highestBudget() {
            return highestBudget;
        }

        long overCommits() {
            return overCommits;
        }

        long sent() {
            return sent;
        }

        long confirmed() {
            return confirmed;
        }

        long repeated() {
            return repeated;
        }

        long refused() {
            return refused;
        }
    }

    void see(JsonNode status) {
        for (JsonNode node : status.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                seeDevice(node.path("node").asText(), device);
            }
        }
    }

    private void seeDevice(String node, JsonNode device) {
        int index = device.path("index").asInt();
        DeviceSeen seen = devices.computeIfAbsent(
                node + "/" + index,
                key -> new DeviceSeen(node, index, device.path("uuid").asText()));
        long ceilings = device.path("ceilingBytes").asLong();
        long budget = device.path("budgetInForceBytes").asLong();
        JsonNode counts = device.path("counts");
        seen.mostRanks = Math.max(seen.mostRanks, device.path("ranks").size());
        seen.highestBudget = Math.max(seen.highestBudget, budget);
        seen.highestPromised = Math.max(
                seen.highestPromised,
                Math.max(ceilings, counts.path("highestPromisedBytes").asLong()));
        long overCommits = counts.path("overCommits").asLong() + (ceilings > budget ? 1 : 0);
        seen.overCommits = Math.max(seen.overCommits, overCommits);
        seen.sent = counts.path("ordersSent").asLong();
        seen.confirmed = counts.path("confirmations").asLong();
        seen.repeated = counts.path("ordersRepeated").asLong();
        seen.refused = counts.path("refusals").asLong();
    }

    List<DeviceSeen> devices() {
        return new ArrayList<>(devices.values());
    }

    static List<JsonNode> ranks(JsonNode status) {
        List<JsonNode> ranks = new ArrayList<>();
        for (JsonNode node : status.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                device.path("ranks").forEach(ranks::add);
            }
        }
        return ranks;
    }

    /** The newest order of each rank. */
    static Map<Integer, Long> sequences(JsonNode status) {
        Map<Integer, Long> sequences = new TreeMap<>();
        ranks(status)
                .forEach(rank -> sequences.put(
                        rank.path("rank").asInt(), rank.path("sequence").asLong()));
        return sequences;
    }

    /** Whether so many ranks are connected and each has confirmed its newest limit. */
    static boolean areSettled(JsonNode status, int ranks) {
        List<JsonNode> found = ranks(status);
        return found.size() == ranks
                && found.stream()
                        .allMatch(rank -> rank.path("settled").asBoolean()
                                && rank.path("sequence").asLong() > 0
                                && rank.path("connected").asBoolean());
    }
}
