package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ResourceJsonTest {
    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");
    private static final long GIB = 1L << 30;

    @Test
    void anItemNamesWhatItBelongsToAndCountsWhatItContains() {
        ClusterStatus status = onNodes(1, Statuses.deviceWithARank());

        JsonNode node = page(status, Resource.NODES).at("/items/0");
        JsonNode device = page(status, Resource.DEVICES).at("/items/0");
        JsonNode rank = page(status, Resource.RANKS).at("/items/0");

        assertThat(node.path("node").asText()).isEqualTo("host-0");
        assertThat(node.path("deviceCount").asInt()).isEqualTo(1);
        assertThat(device.path("node").asText()).isEqualTo("host-0");
        assertThat(device.path("uuid").asText()).isEqualTo("GPU-1");
        assertThat(device.path("rankCount").asInt()).isEqualTo(1);
        assertThat(device.has("ranks")).isFalse();
        assertThat(rank.path("node").asText()).isEqualTo("host-0");
        assertThat(rank.path("device").asText()).isEqualTo("GPU-1");
        assertThat(rank.path("ceilingBytes").asLong()).isEqualTo(40 * GIB);
    }

    @Test
    void aJobSumsItsRanksAndKnowsASumOnlyWhenAllPartsAreKnown() {
        JsonNode known =
                page(onNodes(2, Statuses.deviceWithARank()), Resource.JOBS).at("/items/0");
        JsonNode unknown = page(onNodes(2, Statuses.deviceWithASilentRank()), Resource.JOBS)
                .at("/items/0");

        assertThat(known.path("job").asText()).isEqualTo("bert");
        assertThat(known.path("processCount").asInt()).isEqualTo(2);
        assertThat(known.path("rankCount").asInt()).isEqualTo(1);
        assertThat(known.path("nodes").toString()).isEqualTo("[\"host-0\",\"host-1\"]");
        assertThat(known.path("usedBytes").asLong()).isEqualTo(20 * GIB);
        assertThat(known.path("turn").asText()).isEqualTo("has");
        assertThat(unknown.path("ceilingBytes").asLong()).isEqualTo(80 * GIB);
        assertThat(unknown.get("usedBytes").isNull()).isTrue();
        assertThat(unknown.get("targetBytes").isNull()).isTrue();
    }

    @Test
    void whetherADeviceHasRanksIsNotKnownBeforeItWasHeard() {
        JsonNode device =
                page(onNodes(1, Statuses.silentDevice()), Resource.DEVICES).at("/items/0");

        assertThat(device.get("rankCount").isNull()).isTrue();
        assertThat(page(onNodes(1, Statuses.silentDevice()), Resource.RANKS)
                        .path("total")
                        .asInt())
                .isZero();
    }

    @Test
    void pagesFollowEachOtherAndSayHowManyThereAre() {
        ClusterStatus status = onNodes(250, Statuses.deviceWithARank());

        JsonNode first = page(status, Resource.DEVICES);
        JsonNode last = page(status, Resource.DEVICES, "offset", "240", "limit", "50");
        JsonNode beyond = page(status, Resource.DEVICES, "offset", "1000");

        assertThat(first.path("total").asInt()).isEqualTo(250);
        assertThat(first.path("items")).hasSize(ResourceQuery.DEFAULT_LIMIT);
        assertThat(last.path("items")).hasSize(10);
        assertThat(last.at("/items/9/node").asText()).isEqualTo("host-249");
        assertThat(beyond.path("items")).isEmpty();
        assertThat(beyond.path("total").asInt()).isEqualTo(250);
    }

    @Test
    void filtersNarrowDownByExactValuesAndAllMustFit() {
        ClusterStatus status = onNodes(12, Statuses.deviceWithARank());

        assertThat(values(page(status, Resource.RANKS, "node", "host-1", "job", "bert"), "node"))
                .containsExactly("host-1");
        assertThat(page(status, Resource.RANKS, "connected", "false")
                        .path("total")
                        .asInt())
                .isZero();
        assertThat(page(status, Resource.RANKS, "rank", "3").path("total").asInt())
                .isEqualTo(12);
        assertThat(page(status, Resource.DEVICES, "overBudget", "true")
                        .path("total")
                        .asInt())
                .isEqualTo(12);
        assertThat(page(onNodes(3, Statuses.silentDevice()), Resource.DEVICES, "rollout", "null")
                        .path("total")
                        .asInt())
                .isEqualTo(3);
    }

    // Goal: a filter by a field that no item has would always give an empty list.
    @ParameterizedTest
    @EnumSource
    void eachFilterIsAFieldOfTheItems(Resource resource) {
        JsonNode item = page(onNodes(1, Statuses.deviceWithARank()), resource).at("/items/0");

        assertThat(resource.filters())
                .allSatisfy(filter -> assertThat(item.has(filter)).as(filter).isTrue());
    }

    @ParameterizedTest
    @EnumSource
    void theFiltersAreThoseThatTheDocumentLists(Resource resource) throws IOException {
        String row = "| `/api/v1/" + resource.path() + "` | `" + String.join("`, `", resource.filters()) + "` |";

        assertThat(Files.readAllLines(Path.of(System.getProperty("ullage.root", ".."), "docs", "operations.md")))
                .contains(row);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            nod    | x          | unknown parameter "nod"; known: offset, limit, node, draining
            limit  | 0          | limit must be a whole number of 1 to 1000
            limit  | 1001       | limit must be a whole number of 1 to 1000
            limit  | ten        | limit must be a whole number of 1 to 1000
            offset | -1         | offset must be a whole number of 0 or more
            offset | 9999999999 | offset must be a whole number of 0 or more
            """)
    void aQueryThatIsNotUnderstoodIsRefused(String name, String value, String problem) {
        assertThat(ResourceQuery.parse(Resource.NODES, List.of(Map.entry(name, value)))
                        .problems())
                .containsExactly(problem);
    }

    @Test
    void aParameterThatIsThereTwiceIsRefused() {
        assertThat(ResourceQuery.parse(Resource.NODES, List.of(Map.entry("node", "a"), Map.entry("node", "b")))
                        .problems())
                .containsExactly("node is there twice");
    }

    private static ClusterStatus onNodes(int count, DeviceStatus device) {
        ClusterStatus one = Statuses.active(device);
        List<NodeStatus> nodes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            nodes.add(new NodeStatus(new NodeId("host-" + i), 120, List.of(device)));
        }
        return new ClusterStatus(one.coordinator(), one.token(), one.state(), nodes, one.rollouts());
    }

    private static JsonNode page(ClusterStatus status, Resource resource, String... parameters) {
        List<Map.Entry<String, String>> entries = new ArrayList<>();
        for (int i = 0; i < parameters.length; i += 2) {
            entries.add(Map.entry(parameters[i], parameters[i + 1]));
        }
        ResourceQuery query = ResourceQuery.parse(resource, entries);
        assertThat(query.problems()).isEmpty();
        return ResourceJson.of(status, resource, query, NOW);
    }

    private static List<String> values(JsonNode page, String field) {
        return StreamSupport.stream(page.path("items").spliterator(), false)
                .map(item -> item.path(field).asText())
                .toList();
    }
}
