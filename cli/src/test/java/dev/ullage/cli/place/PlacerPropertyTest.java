package dev.ullage.cli.place;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.place.PlacementWish.Extent;
import dev.ullage.cli.place.Placer.Answer;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.balance.PolicyKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.statistics.Statistics;

/** Small clusters and wishes at random: what is found is right, and nothing is missed that trying everything finds. */
class PlacerPropertyTest {
    private static final List<Extent> EXTENTS = List.of(Extent.values());
    private static final long GIB = 1L << 30;
    private static final int MOST = 8;

    /** @param cores of its host that are free; so many ranks find a core each */
    private record Node(String name, int cores, List<Integer> free) {}

    private static List<Node> cluster(SplittableRandom random) {
        List<Node> nodes = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        for (int n = 0; n < count; n++) {
            List<Integer> free = new ArrayList<>();
            int devices = 1 + random.nextInt(3);
            for (int i = 0; i < devices; i++) {
                free.add(random.nextInt(MOST + 1));
            }
            nodes.add(new Node("n" + n, random.nextInt(8), free));
        }
        return nodes;
    }

    private static ObjectNode status(List<Node> nodes) {
        ObjectNode status = new JsonMapper().createObjectNode();
        ArrayNode all = status.putArray("nodes");
        for (Node node : nodes) {
            ObjectNode shown = all.addObject().put("node", node.name());
            shown.putObject("host")
                    .put("cpuMilli", 1000 * node.cores())
                    .putNull("memoryBytes")
                    .put("askedCpuMilli", 0)
                    .put("askedMemoryBytes", 0);
            ArrayNode devices = shown.putArray("devices");
            for (int i = 0; i < node.free().size(); i++) {
                devices.addObject()
                        .put("uuid", "GPU-" + node.name() + i)
                        .put("index", i)
                        .put("name", "H100")
                        .put("allocatableBytes", MOST * GIB)
                        .put("reserveBasisPoints", 0)
                        .put("ceilingBytes", (MOST - node.free().get(i)) * GIB)
                        .put("freeBytes", MOST * GIB)
                        .put("sampleState", "fresh");
            }
        }
        return status;
    }

    private static PlacementWish wish(SplittableRandom random) {
        return new PlacementWish(
                1 + random.nextInt(7),
                1 + random.nextInt(3),
                Optional.of(MemoryBytes.ofGibibytes(1 + random.nextInt(4))),
                Optional.empty(),
                EXTENTS.get(random.nextInt(EXTENTS.size())),
                Optional.empty(),
                List.of(PolicyKind.FILL, PolicyKind.BEST_FIT, PolicyKind.PACK).get(random.nextInt(3)),
                OptionalInt.empty(),
                new HostNeed(Optional.empty(), random.nextBoolean() ? OptionalInt.of(1000) : OptionalInt.empty()));
    }

    /** Every way to give each device of the nodes all its ranks, the last ones, or none. */
    private static boolean fits(List<Node> nodes, PlacementWish wish) {
        if (wish.extent() == Extent.SAME_NODE && nodes.size() > 1) {
            return nodes.stream().anyMatch(node -> fits(List.of(node), wish));
        }
        return fits(nodes, wish, new int[] {
            0, 0, wish.fullDevices(), wish.ranksOnLast(), nodes.get(0).cores()
        });
    }

    /** @param at node, device, full devices that are missing, ranks of the last that are, cores left on the node */
    private static boolean fits(List<Node> nodes, PlacementWish wish, int[] at) {
        if (at[2] == 0 && at[3] == 0) {
            return true;
        }
        if (at[0] == nodes.size()) {
            return false;
        }
        Node node = nodes.get(at[0]);
        if (at[1] == node.free().size()) {
            int cores = at[0] + 1 < nodes.size() ? nodes.get(at[0] + 1).cores() : 0;
            return fits(nodes, wish, new int[] {at[0] + 1, 0, at[2], at[3], cores});
        }
        boolean isFull = at[2] > 0
                && takes(wish, node.free().get(at[1]), at[4], wish.ranksPerDevice())
                && fits(nodes, wish, new int[] {at[0], at[1] + 1, at[2] - 1, at[3], at[4] - wish.ranksPerDevice()});
        boolean isLast = at[3] > 0
                && takes(wish, node.free().get(at[1]), at[4], at[3])
                && fits(nodes, wish, new int[] {at[0], at[1] + 1, at[2], 0, at[4] - at[3]});
        return isFull || isLast || fits(nodes, wish, new int[] {at[0], at[1] + 1, at[2], at[3], at[4]});
    }

    private static boolean takes(PlacementWish wish, int freeGib, int cores, int ranks) {
        long each = wish.memory().orElseThrow().value() / GIB;
        return freeGib >= each * ranks && (wish.host().isNone() || cores >= ranks);
    }

    private static List<Node> atTheirBest(List<Node> nodes) {
        return nodes.stream()
                .map(node -> new Node(
                        node.name(),
                        node.cores(),
                        node.free().stream().map(free -> MOST).toList()))
                .toList();
    }

    private static void assertIsRight(List<PlacedRank> ranks, List<Node> nodes, PlacementWish wish) {
        assertThat(ranks).extracting(PlacedRank::rank).containsExactlyElementsOf(upTo(wish.ranks()));
        Map<String, List<PlacedRank>> byNode = new LinkedHashMap<>();
        ranks.forEach(rank ->
                byNode.computeIfAbsent(rank.node(), node -> new ArrayList<>()).add(rank));
        assertThat(byNode.size()).isLessThanOrEqualTo(wish.extent() == Extent.SAME_NODE ? 1 : nodes.size());
        byNode.forEach((name, there) -> {
            Node node = nodes.stream()
                    .filter(one -> one.name().equals(name))
                    .findFirst()
                    .orElseThrow();
            assertThat(there).extracting(PlacedRank::localRank).containsExactlyElementsOf(upTo(there.size()));
            assertThat(wish.host().isNone() || there.size() <= node.cores()).isTrue();
            List<Integer> order =
                    there.stream().map(PlacedRank::index).distinct().toList();
            there.forEach(rank -> assertThat(order.get(rank.localRank() / wish.ranksPerDevice()))
                    .as("a local rank divided by the ranks of a device is its device")
                    .isEqualTo(rank.index()));
            order.forEach(index -> assertThat(takes(wish, node.free().get(index), node.cores(), (int)
                            there.stream().filter(rank -> rank.index() == index).count()))
                    .isTrue());
        });
    }

    private static List<Integer> upTo(int count) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            numbers.add(i);
        }
        return numbers;
    }

    @Property(tries = 3000, seed = "11")
    void whatFitsIsFoundAndWhatIsFoundFits(@ForAll long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Node> nodes = cluster(random);
        PlacementWish wish = wish(random);

        Answer answer = Placer.place(Offer.of(status(nodes)), wish);

        String what = nodes + " " + wish + " " + answer;
        assertThat(answer instanceof Answer.Found).as(what).isEqualTo(fits(nodes, wish));
        assertThat(answer instanceof Answer.Never).as(what).isNotEqualTo(fits(atTheirBest(nodes), wish));
        if (answer instanceof Answer.Found found) {
            assertIsRight(found.ranks(), nodes, wish);
        }
        Statistics.label("answer").collect(answer.getClass().getSimpleName());
        Statistics.label("last device").collect(wish.ranksOnLast() > 0);
    }
}
