package dev.ullage.coordinator.planning.balance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.balance.Placement.Placed;
import dev.ullage.coordinator.planning.balance.Placement.Refused;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PlacementPoliciesTest {
    private static final RequestMix FUTURE =
            RequestMix.of(List.of(PlacementRequest.ofDevices(1, 600), PlacementRequest.ofDevices(2, 1000)));

    private static NodeRoom node(String name, long... rooms) {
        List<DeviceRoom> devices = new ArrayList<>();
        for (long room : rooms) {
            devices.add(new DeviceRoom(name + "/" + devices.size(), 1000, room, Optional.empty()));
        }
        return new NodeRoom(name, "T4", 64_000, MemoryBytes.ofGibibytes(64), devices);
    }

    private static NodeRoom whole(String name, int devices) {
        long[] rooms = new long[devices];
        Arrays.fill(rooms, 1000);
        return node(name, rooms);
    }

    private static PlacementBoard board(NodeRoom... nodes) {
        return PlacementBoard.of(ShareUnit.MILLI_DEVICE, List.of(nodes));
    }

    /** Places as many as will go; answers where. */
    private static List<Placed> placeAll(PlacementBoard board, PlacementPolicy policy, PlacementRequest one, int jobs) {
        List<Placed> placed = new ArrayList<>();
        for (int i = 0; i < jobs; i++) {
            board.arrived(one);
            if (policy.place(board, one) instanceof Placed there) {
                board.take(one, there);
                placed.add(there);
            }
        }
        return placed;
    }

    // cases/E03/fractions.json, the first
    @ParameterizedTest
    @EnumSource
    void tenJobsOfMoreThanHalfADeviceAllFindOne(PolicyKind kind) {
        PlacementBoard board = board(whole("a", 8), whole("b", 8));

        assertThat(placeAll(board, kind.create(FUTURE, 1), PlacementRequest.ofDevices(1, 600), 10))
                .hasSize(10)
                .doesNotHaveDuplicates();
    }

    @Test
    void packingFillsOneNodeBeforeTheNext() {
        List<Placed> placed =
                placeAll(board(whole("a", 8), whole("b", 8)), new PackPolicy(), PlacementRequest.ofDevices(1, 600), 10);

        assertThat(placed.stream().filter(there -> there.nodeName().equals("a")))
                .hasSize(8);
    }

    // the second
    @ParameterizedTest
    @EnumSource
    void partsOfTwoDevicesAreNotOneDevice(PolicyKind kind) {
        PlacementBoard board = board(node("a", 400, 400), node("b", 1000));
        PlacementRequest request = PlacementRequest.ofDevices(1, 800);
        PlacementPolicy policy = kind.create(FUTURE, 1);
        board.arrived(request);

        assertThat(policy.place(board, request))
                .isInstanceOfSatisfying(
                        Placed.class, there -> assertThat(there.nodeName()).isEqualTo("b"));
        assertThat(policy.place(board(node("a", 400, 400)), request)).isInstanceOf(Refused.class);
    }

    // the third
    @ParameterizedTest
    @EnumSource(
            value = PolicyKind.class,
            names = {"RANDOM", "SPREAD"},
            mode = EnumSource.Mode.EXCLUDE)
    void fiveJobsShareEachDevice(PolicyKind kind) {
        PlacementBoard board = board(whole("a", 8), whole("b", 8));

        assertThat(placeAll(board, kind.create(FUTURE, 1), PlacementRequest.ofDevices(1, 180), 80))
                .hasSize(80);
        assertThat(placeAll(board, kind.create(FUTURE, 1), PlacementRequest.ofDevices(1, 180), 1))
                .isEmpty();
    }

    @Test
    void aRefusalCountsEachBoundAndNamesDevicesThatAreOut() {
        DeviceRoom lost = DeviceRoom.ofMemory(
                "GPU-1", MemoryBytes.ofGibibytes(80), MemoryBytes.ofGibibytes(64), Optional.empty(), List.of("lost"));
        DeviceRoom full = DeviceRoom.ofMemory(
                "GPU-2",
                MemoryBytes.ofGibibytes(80),
                MemoryBytes.ofGibibytes(64),
                Optional.of(MemoryBytes.ofGibibytes(3)),
                List.of());
        PlacementBoard board = PlacementBoard.of(
                ShareUnit.BYTES,
                List.of(
                        new NodeRoom("a", "H100", 1000, MemoryBytes.ZERO, List.of(lost, full)),
                        new NodeRoom("b", "A100", 1000, MemoryBytes.ZERO, List.of(full))));
        PlacementRequest request = PlacementRequest.ofDevices(
                        1, MemoryBytes.ofGibibytes(4).value())
                .onModels("H100");

        assertThat(new BestFitPolicy().place(board, request).reason())
                .isEqualTo(
                        "best-fit: none of 2 nodes has room for 1 x 4.0 GiB of H100, cpu 0 milli, 0 B of host memory:"
                                + " 1 with another model, 1 with too few devices with that much room; out: GPU-1 (lost)");
    }

    @Test
    void roomIsTheLesserOfLedgerAndMeasurement() {
        MemoryBytes eighty = MemoryBytes.ofGibibytes(80);
        MemoryBytes ten = MemoryBytes.ofGibibytes(10);
        MemoryBytes five = MemoryBytes.ofGibibytes(5);

        assertThat(DeviceRoom.ofMemory("d", eighty, ten, Optional.of(five), List.of())
                        .room())
                .isEqualTo(five.value());
        assertThat(DeviceRoom.ofMemory("d", eighty, five, Optional.of(ten), List.of())
                        .room())
                .isEqualTo(five.value());
        assertThat(DeviceRoom.ofMemory("d", eighty, ten, Optional.empty(), List.of())
                        .reason())
                .hasValue("its free memory is not known");
    }

    @ParameterizedTest
    @EnumSource
    void memoryIsPlacedAsSharesAre(PolicyKind kind) {
        PlacementRequest third =
                PlacementRequest.ofDevices(1, MemoryBytes.ofGibibytes(30).value());
        PlacementBoard board = PlacementBoard.of(
                ShareUnit.BYTES,
                List.of(
                        new NodeRoom("a", "H100", 0, MemoryBytes.ZERO, List.of(slice("a/0", 80))),
                        new NodeRoom("b", "A100", 0, MemoryBytes.ZERO, List.of(slice("b/0", 40)))));
        PlacementPolicy policy = kind.create(RequestMix.of(List.of(third)), 1);

        assertThat(placeAll(board, policy, third, 5)).hasSize(3);
        assertThat(board.roomOn(0, 0)).isEqualTo(MemoryBytes.ofGibibytes(20).value());
        assertThat(board.roomOn(1, 0)).isEqualTo(MemoryBytes.ofGibibytes(10).value());
    }

    @Test
    void memoryIsRoundedAgainstTheRequest() {
        DeviceRoom device = new DeviceRoom(
                "d",
                MemoryBytes.ofMebibytes(10).value(),
                MemoryBytes.ofMebibytes(5).value() - 1,
                Optional.empty());
        PlacementBoard board = PlacementBoard.of(
                ShareUnit.BYTES, List.of(new NodeRoom("a", "H100", 0, MemoryBytes.ZERO, List.of(device))));
        PlacementPolicy policy = new BestFitPolicy();

        assertThat(policy.place(
                        board,
                        PlacementRequest.ofDevices(1, MemoryBytes.ofMebibytes(4).value() + 1)))
                .isInstanceOf(Refused.class);
        assertThat(policy.place(
                        board,
                        PlacementRequest.ofDevices(1, MemoryBytes.ofMebibytes(4).value())))
                .isInstanceOf(Placed.class);
    }

    @Test
    void aSmallRequestGetsTheSmallestMigInstanceThatIsEnough() {
        List<DeviceRoom> slices = List.of(slice("large", 40), slice("small", 10), slice("middle", 20));
        PlacementBoard board = PlacementBoard.of(
                ShareUnit.BYTES,
                List.of(
                        new NodeRoom("a", "A100", 0, MemoryBytes.ZERO, List.of(slice("x", 20))),
                        new NodeRoom("b", "A100", 0, MemoryBytes.ZERO, slices)));
        MigSlicePolicy policy = new MigSlicePolicy();

        assertThat(policy.place(
                                board,
                                PlacementRequest.ofDevices(
                                        1, MemoryBytes.ofGibibytes(9).value()))
                        .reason())
                .startsWith("b, devices [1]: mig-slice, cost 1024.0");
        assertThat(policy.place(
                                board,
                                PlacementRequest.ofDevices(
                                        1, MemoryBytes.ofGibibytes(11).value()))
                        .reason())
                .startsWith("a, devices [0]");
        assertThatThrownBy(() -> policy.place(board(whole("c", 1)), PlacementRequest.ofDevices(1, 1)))
                .hasMessageContaining("by bytes");
    }

    private static DeviceRoom slice(String name, long gibibytes) {
        long bytes = MemoryBytes.ofGibibytes(gibibytes).value();
        return new DeviceRoom(name, bytes, bytes, Optional.empty());
    }

    // Goal: small jobs stay off the nodes that large ones need. Method: what came so far was half large.
    @Test
    void fillKeepsWholeNodesForWhatHasComeBefore() {
        PlacementBoard board = board(whole("a", 8), whole("b", 8), whole("c", 8));
        PlacementRequest large = PlacementRequest.ofDevices(8, 1000);
        PlacementRequest small = PlacementRequest.ofDevices(1, 250);
        FillPolicy fill = FillPolicy.online();
        placeAll(board, fill, large, 1);

        List<Placed> placed = placeAll(board, fill, small, 32);

        assertThat(placed).hasSize(32);
        assertThat(placed.stream().map(Placed::node).distinct()).hasSize(1);
        assertThat(placeAll(board, fill, large, 1)).hasSize(1);
    }

    // Goal: no sequence of placements and departures gives a device away twice. Method: count again by hand.
    @Property(tries = 100)
    void noDeviceIsGivenAwayTwice(
            @ForAll @Size(min = 1, max = 60) List<@IntRange(min = 0, max = 1200) Integer> choices,
            @ForAll PolicyKind kind) {
        PlacementBoard board = board(whole("a", 4), node("b", 700, 300), whole("c", 1));
        PlacementPolicy policy = kind.create(FUTURE, 7);
        long[][] used = new long[3][4];
        List<PlacementRequest> running = new ArrayList<>();
        List<Placed> where = new ArrayList<>();
        for (int choice : choices) {
            if (choice > 1000 && !running.isEmpty()) {
                PlacementRequest ended = running.remove(0);
                count(used, where.get(0), -ended.share());
                board.giveBack(ended, where.remove(0));
                continue;
            }
            PlacementRequest request = PlacementRequest.ofDevices(1 + choice % 2, 1 + choice % 1000);
            board.arrived(request);
            if (policy.place(board, request) instanceof Placed placed) {
                board.take(request, placed);
                count(used, placed, request.share());
                running.add(request);
                where.add(placed);
            }
        }
        for (int n = 0; n < 3; n++) {
            for (int d = 0; d < board.node(n).devices().size(); d++) {
                long room = board.node(n).devices().get(d).room();
                assertThat(board.roomOn(n, d)).isEqualTo(room - used[n][d]).isBetween(0L, room);
            }
        }
    }

    private static void count(long[][] used, Placed placed, long share) {
        assertThat(placed.devices()).doesNotHaveDuplicates();
        placed.devices().forEach(device -> used[placed.node()][device] += share);
    }
}
