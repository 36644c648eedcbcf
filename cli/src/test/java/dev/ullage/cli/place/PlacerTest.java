package dev.ullage.cli.place;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.place.PlacementWish.Extent;
import dev.ullage.cli.place.Placer.Answer;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import dev.ullage.coordinator.planning.balance.PolicyKind;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class PlacerTest {
    private static final long GIB = 1L << 30;

    private final ObjectNode status = new JsonMapper().createObjectNode();
    private final ArrayNode nodes = status.putArray("nodes");

    /** A node with devices of 100 GiB, a fifth of them in reserve, with so many GiB promised and used on each. */
    private ArrayNode node(String name, int... promised) {
        ObjectNode node = nodes.addObject();
        node.put("node", name);
        ArrayNode devices = node.putArray("devices");
        for (int i = 0; i < promised.length; i++) {
            ObjectNode device = devices.addObject();
            device.put("uuid", "GPU-" + name + i);
            device.put("index", i);
            device.put("name", name.equals("old") ? "NVIDIA A100" : "NVIDIA H100");
            device.put("allocatableBytes", 100 * GIB);
            device.put("reserveBasisPoints", 2000);
            device.put("budgetInForceBytes", 80 * GIB);
            device.put("ceilingBytes", promised[i] * GIB);
            device.put("freeBytes", (100 - promised[i]) * GIB);
            device.put("foreignBytes", 0);
            device.put("sampleState", "fresh");
            device.put("overBudget", false);
        }
        return devices;
    }

    // As under WSL: the driver does not tell it, and the ledger plans with a bound.
    @Test
    void foreignMemoryThatIsNotToldIsWhatLimitsArePlannedWith() {
        ArrayNode devices = node("a", 0);
        change(devices, 0).putNull("foreignBytes").put("plannedForeignBytes", 30 * GIB);

        assertThat(found(gibibytes(1, 1, 50, Extent.SAME_NODE))).hasSize(1);
        assertThat(place(gibibytes(1, 1, 51, Extent.SAME_NODE))).isNotInstanceOf(Answer.Found.class);
    }

    private static ObjectNode change(ArrayNode devices, int index) {
        return (ObjectNode) devices.get(index);
    }

    private static PlacementWish gibibytes(int ranks, int perDevice, long amount, Extent extent) {
        return new PlacementWish(
                ranks,
                perDevice,
                Optional.of(MemoryBytes.ofGibibytes(amount)),
                Optional.empty(),
                extent,
                Optional.empty(),
                PolicyKind.FILL);
    }

    private Answer place(PlacementWish wish) {
        return Placer.place(Offer.of(status), wish);
    }

    private List<PlacedRank> found(PlacementWish wish) {
        assertThat(place(wish)).isInstanceOf(Answer.Found.class);
        return ((Answer.Found) place(wish)).ranks();
    }

    private String refused(PlacementWish wish) {
        Answer answer = place(wish);
        if (answer instanceof Answer.Never never) {
            return "never: " + never.why();
        }
        return answer instanceof Answer.NotNow notNow ? "not now: " + notNow.why() : "found";
    }

    private void instance(ArrayNode devices, int index, long gibibytes) {
        change(devices, index)
                .put("uuid", "MIG-" + index)
                .put("allocatableBytes", gibibytes * GIB)
                .put("reserveBasisPoints", 0)
                .put("budgetInForceBytes", gibibytes * GIB)
                .put("freeBytes", gibibytes * GIB)
                .putObject("mig")
                .put("parentUuid", "GPU-a");
    }

    // A whole device first, then instances of 40, 10 and 20 GiB.
    @Test
    void ofMigInstancesTheSmallestThatIsEnoughIsTakenAndNoWholeDevice() {
        ArrayNode devices = node("a", 0, 0, 0, 0);
        instance(devices, 1, 40);
        instance(devices, 2, 10);
        instance(devices, 3, 20);

        assertThat(found(gibibytes(1, 1, 8, Extent.FEW_NODES)))
                .extracting(PlacedRank::uuid)
                .containsExactly("MIG-2");
        assertThat(found(gibibytes(1, 1, 11, Extent.FEW_NODES)))
                .extracting(PlacedRank::uuid)
                .containsExactly("MIG-3");
        assertThat(found(gibibytes(2, 1, 15, Extent.FEW_NODES)))
                .extracting(PlacedRank::uuid)
                .containsExactly("MIG-1", "MIG-3");
        assertThat(found(gibibytes(1, 1, 41, Extent.FEW_NODES)))
                .as("no instance holds that")
                .extracting(PlacedRank::uuid)
                .containsExactly("GPU-a0");
    }

    @Test
    void aDeviceThatReportedAnXidHasNoRoomAndSaysSo() {
        ArrayNode devices = node("a", 0, 0);
        change(devices, 0).putArray("problems").add("Xid 79 was reported since the worker started: see dmesg");
        change(devices, 1).putArray("problems").add("processes: NO_PERMISSION");

        assertThat(found(gibibytes(1, 1, 8, Extent.FEW_NODES)))
                .extracting(PlacedRank::index)
                .containsExactly(1);
        assertThat(refused(gibibytes(2, 1, 8, Extent.FEW_NODES)))
                .startsWith("not now: ")
                .contains("a device 0 (NVIDIA H100): Xid 79 was reported since the worker started");
    }

    @Test
    void aJobGoesToAsFewNodesAsItCan() {
        node("a", 0, 0);
        node("b", 0, 0, 0, 0);

        assertThat(found(gibibytes(4, 1, 50, Extent.FEW_NODES)))
                .extracting(PlacedRank::uuid)
                .containsExactly("GPU-b0", "GPU-b1", "GPU-b2", "GPU-b3");
        assertThat(found(gibibytes(5, 1, 50, Extent.FEW_NODES)))
                .extracting(PlacedRank::rank, PlacedRank::node, PlacedRank::localRank)
                .contains(tuple(4, "a", 0))
                .hasSize(5);
    }

    @Test
    void spreadAlternatesNodes() {
        node("a", 0, 0);
        node("b", 0, 0);

        assertThat(found(gibibytes(2, 1, 10, Extent.SPREAD)))
                .extracting(PlacedRank::node)
                .containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void ranksShareADeviceOnlyAsAskedAndTheLastTakesWhatRemains() {
        node("a", 0, 0);

        assertThat(found(gibibytes(3, 2, 30, Extent.SAME_NODE)))
                .extracting(PlacedRank::uuid)
                .containsExactly("GPU-a0", "GPU-a0", "GPU-a1");
        assertThat(refused(gibibytes(3, 2, 41, Extent.SAME_NODE))).startsWith("never: 3 ranks need 2 devices");
    }

    // 35 GiB are free on each: enough for one rank of 30 GiB, not for two.
    @Test
    void theLastDeviceNeedsOnlyWhatItsRanksDo() {
        node("a", 45, 0);
        node("b", 45, 45);

        for (Extent extent : Extent.values()) {
            assertThat(found(gibibytes(3, 2, 30, extent)))
                    .as(extent.name())
                    .extracting(PlacedRank::uuid)
                    .startsWith("GPU-a1", "GPU-a1")
                    .hasSize(3);
        }
        assertThat(found(gibibytes(3, 2, 30, Extent.SAME_NODE)))
                .as("the full device first, so that a script that divides local ranks finds its device")
                .extracting(PlacedRank::uuid)
                .containsExactly("GPU-a1", "GPU-a1", "GPU-a0");
        assertThat(found(gibibytes(1, 2, 35, Extent.FEW_NODES)))
                .as("one rank needs room for one")
                .hasSize(1);
        assertThat(refused(gibibytes(4, 2, 30, Extent.FEW_NODES)))
                .startsWith("not now: 4 ranks need 2 devices with 2 x 30.0 GiB each; 1 has that now, so 1 of these")
                .contains("a device 0 (NVIDIA H100): 35.0 GiB free, 25.0 GiB more needed");
        assertThat(refused(gibibytes(3, 2, 36, Extent.SAME_NODE)))
                .isEqualTo("not now: 3 ranks need 2 devices of one node with 2 x 36.0 GiB each, the last with 36.0 GiB;"
                        + " 1 has that now, so 1 of these would have to be free: a device 0 (NVIDIA H100): 35.0 GiB"
                        + " free, 1.0 GiB more needed");
    }

    // Counted as full, the last device would need a core more than there is.
    @Test
    void theLastDeviceTakesOfItsHostOnlyWhatItsRanksAskFor() {
        node("a", 0, 0);
        node("b", 0);
        host(0, 4, 0, 64, 64);
        host(1, 1, 0, 64, 64);

        assertThat(found(withHost(5, 2, 1, 0, Extent.FEW_NODES)))
                .extracting(PlacedRank::node)
                .containsExactly("a", "a", "a", "a", "b");
        assertThat(refused(withHost(6, 2, 1, 0, Extent.FEW_NODES))).startsWith("never: 6 ranks ask for 1 cpu each");
    }

    // A share is one of all of the device: the reserve of a fifth leaves no room for nine tenths.
    @Test
    void sharesAreOfTheWholeDevice() {
        node("a", 0);
        PlacementWish most = new PlacementWish(
                1,
                1,
                Optional.empty(),
                Optional.of(Share.ofPercent(80)),
                Extent.FEW_NODES,
                Optional.empty(),
                PolicyKind.PACK);
        PlacementWish more = new PlacementWish(
                1,
                1,
                Optional.empty(),
                Optional.of(Share.ofPercent(90)),
                Extent.FEW_NODES,
                Optional.empty(),
                PolicyKind.PACK);

        assertThat(found(most)).hasSize(1);
        assertThat(refused(more)).startsWith("never: ");

        // Of a device whose four fifths are no whole number of bytes, four fifths are still to be had.
        change((ArrayNode) nodes.get(0).path("devices"), 0)
                .put("allocatableBytes", 100 * GIB - 3)
                .put("budgetInForceBytes", (100 * GIB - 3) * 4 / 5)
                .put("freeBytes", 100 * GIB - 3);
        assertThat(found(most)).hasSize(1);
    }

    @Test
    void anAmountBeyondAllBoundsIsRefusedAsAnyOther() {
        node("a", 0);

        assertThat(refused(gibibytes(64, 64, Long.MAX_VALUE / GIB, Extent.FEW_NODES)))
                .startsWith("never: ");
        assertThat(refused(gibibytes(100_000, 1, 1, Extent.FEW_NODES))).startsWith("never: ");
    }

    @Test
    void theLesserOfPromisedAndMeasuredRoomCounts() {
        ArrayNode devices = node("a", 0, 50);
        change(devices, 0).put("freeBytes", 20 * GIB);

        assertThat(found(gibibytes(1, 1, 25, Extent.FEW_NODES)))
                .extracting(PlacedRank::uuid)
                .containsExactly("GPU-a1");
        assertThat(refused(gibibytes(1, 1, 40, Extent.FEW_NODES)))
                .startsWith("not now: 1 rank needs 1 device with 40.0 GiB; 0 have that now")
                .contains("a device 0 (NVIDIA H100): 20.0 GiB free, 20.0 GiB more needed")
                .contains("a device 1 (NVIDIA H100): 30.0 GiB free, 10.0 GiB more needed");
    }

    @Test
    void devicesThatAreOutSayWhy() {
        ArrayNode devices = node("a", 0, 0, 0, 0);
        change(devices, 0).put("sampleState", "lost");
        change(devices, 1).put("overBudget", true);
        change(devices, 2).putNull("freeBytes");
        change(devices, 3).putNull("ceilingBytes");

        assertThat(refused(gibibytes(1, 1, 10, Extent.FEW_NODES)))
                .startsWith("not now: ")
                .contains("device 0 (NVIDIA H100): its readings are lost")
                .contains("device 1 (NVIDIA H100): more is promised on it than may be")
                .contains("device 2 (NVIDIA H100): its free memory is not known")
                .contains("not counted: a device 3: its memory or its ledger is not known");
    }

    @Test
    void whatNeverFitsIsToldWithTheNumbers() {
        node("a", 80, 80);
        node("old", 0, 0);

        assertThat(refused(gibibytes(3, 1, 40, Extent.SAME_NODE)))
                .isEqualTo("never: 3 ranks need 3 devices of one node with 40.0 GiB each; 2 could ever give that, of 4,"
                        + " the most that one can promise is 80.0 GiB");
        assertThat(refused(gibibytes(1, 1, 81, Extent.FEW_NODES))).startsWith("never: ");
        assertThat(refused(gibibytes(2, 1, 40, Extent.FEW_NODES))).isEqualTo("found");
    }

    /** What a node says of its host: cores, and memory in GiB; of these so much is asked for by jobs of the queue. */
    private void host(int node, int cores, int askedCores, int memory, int available) {
        ((ObjectNode) nodes.get(node))
                .putObject("host")
                .put("cpuMilli", 1000 * cores)
                .put("memoryBytes", memory * GIB)
                .put("availableBytes", available * GIB)
                .put("askedCpuMilli", 1000 * askedCores)
                .put("askedMemoryBytes", 0);
    }

    private static PlacementWish withHost(int ranks, int perDevice, int cores, int hostGib, Extent extent) {
        return new PlacementWish(
                ranks,
                perDevice,
                Optional.of(MemoryBytes.ofGibibytes(1)),
                Optional.empty(),
                extent,
                Optional.empty(),
                PolicyKind.FILL,
                OptionalInt.empty(),
                new HostNeed(
                        hostGib == 0 ? Optional.empty() : Optional.of(MemoryBytes.ofGibibytes(hostGib)),
                        cores == 0 ? OptionalInt.empty() : OptionalInt.of(1000 * cores)));
    }

    @Test
    void ranksGoWhereTheirHostsHaveProcessorsAndMemoryForThem() {
        node("a", 0, 0, 0, 0);
        node("b", 0, 0, 0, 0);
        host(0, 16, 10, 64, 60);
        host(1, 16, 0, 64, 10);

        assertThat(found(withHost(4, 1, 4, 0, Extent.SAME_NODE)))
                .extracting(PlacedRank::node)
                .containsOnly("b");
        assertThat(found(withHost(1, 1, 4, 20, Extent.FEW_NODES)))
                .extracting(PlacedRank::node)
                .containsExactly("a");
        assertThat(found(withHost(5, 1, 4, 0, Extent.FEW_NODES)))
                .extracting(PlacedRank::node)
                .containsExactly("b", "b", "b", "b", "a");
        assertThat(found(withHost(3, 2, 5, 0, Extent.SAME_NODE)))
                .as("the last device has one rank")
                .extracting(PlacedRank::node)
                .containsOnly("b");
        assertThat(refused(withHost(1, 1, 12, 20, Extent.FEW_NODES)))
                .isEqualTo("not now: 1 rank asks for 12 cpus and 20.0 GiB of host memory: cpus on a: asked 12,"
                        + " free 6; host memory on b: asked 20.0 GiB, free 10.0 GiB");
        assertThat(refused(withHost(2, 1, 9, 0, Extent.SAME_NODE)))
                .startsWith("never: 2 ranks ask for 9 cpus each: cpus on a: asked 9 for each of 2 ranks, has 16");
    }

    @Test
    void ofAHostThatDoesNotSayWhatItHasNothingIsAssumed() {
        node("a", 0, 0);
        node("b", 0, 0);
        host(0, 4, 0, 64, 64);

        assertThat(refused(withHost(1, 1, 8, 0, Extent.FEW_NODES)))
                .isEqualTo("not now: 1 rank asks for 8 cpus: cpus on a: asked 8, free 4; b does not say how many"
                        + " cpus it has");
        assertThat(found(withHost(1, 1, 4, 0, Extent.FEW_NODES)))
                .extracting(PlacedRank::node)
                .containsExactly("a");
        assertThat(refused(withHost(4, 1, 0, 0, Extent.FEW_NODES))).isEqualTo("found");
    }

    @Test
    void onlyDevicesThatMatchTheModel() {
        node("a", 80, 0);
        node("old", 0, 0);
        PlacementWish wish = new PlacementWish(
                2,
                1,
                Optional.of(MemoryBytes.ofGibibytes(40)),
                Optional.empty(),
                Extent.FEW_NODES,
                Optional.of("*h100*"),
                PolicyKind.BEST_FIT);

        assertThat(refused(wish))
                .startsWith("not now: ")
                .contains("1 has that now, so 1 of these")
                .doesNotContain("old");
    }

    @Test
    void aDrainingNodeTakesNothingAndIsNamed() {
        node("a", 0, 0);
        node("b", 0);
        ((ObjectNode) nodes.get(0)).put("draining", true);

        Answer one = Placer.place(Offer.of(status), gibibytes(1, 1, 40, Extent.FEW_NODES));
        assertThat(((Answer.Found) one).ranks()).singleElement().satisfies(rank -> assertThat(rank.node())
                .isEqualTo("b"));
        assertThat(((Answer.NotNow) Placer.place(Offer.of(status), gibibytes(2, 1, 40, Extent.FEW_NODES))).why())
                .contains("a device 0 (NVIDIA H100): its node is draining");
    }
}
