package dev.ullage.coordinator.admission;

import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.coordinator.planning.balance.DeviceRoom;
import dev.ullage.coordinator.planning.balance.NodeRoom;
import dev.ullage.coordinator.planning.balance.Placement.Placed;
import dev.ullage.coordinator.planning.balance.PlacementBoard;
import dev.ullage.coordinator.planning.balance.PlacementPolicy;
import dev.ullage.coordinator.planning.balance.PlacementRequest;
import dev.ullage.coordinator.planning.balance.ShareUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * The board on which a policy chooses devices for bundles of one kind. Processors and memory of the hosts are on it
 * where this request, or one that usually comes, asks for them: else they would make nodes differ that are alike to all
 * who come.
 *
 * @param nodes devices without room are on it too: they tell how large a node is
 * @param hosts what they have left
 */
record GangBoard(
        JobRequest request,
        Bundle bundle,
        NavigableMap<NodeId, List<DeviceOffer>> nodes,
        Rooms hosts,
        List<JobRequest> usual) {
    GangBoard {
        usual = List.copyOf(usual);
    }

    /** So many devices of one node; none when the policy finds none. */
    List<DeviceOffer> choose(PlacementPolicy policy, int count) {
        List<List<DeviceOffer>> byPosition = new ArrayList<>(nodes.values());
        PlacementBoard board = PlacementBoard.of(
                ShareUnit.BYTES, byPosition.stream().map(this::room).toList());
        // On devices of different sizes a share is as many different amounts. Those that are too small have no room on
        // the board, so the smallest of the others stands for all.
        List<DeviceOffer> all = byPosition.stream().flatMap(List::stream).toList();
        usual.forEach(other -> Bundle.of(other).stream()
                .findFirst()
                .flatMap(some -> onBoard(
                        some, other.devices(), HostAmount.of(other.wanted().host(), other.ranks()), all))
                .ifPresent(board::arrived));
        PlacementRequest wanted = onBoard(
                        bundle,
                        count,
                        HostAmount.of(request.wanted().host(), count * bundle.ranks()),
                        all.stream().filter(bundle::fits).toList())
                .orElseThrow();
        board.arrived(wanted);
        if (policy.place(board, wanted) instanceof Placed placed) {
            List<DeviceOffer> node = byPosition.get(placed.node());
            return placed.devices().stream().map(node::get).toList();
        }
        return List.of();
    }

    private static Optional<PlacementRequest> onBoard(
            Bundle bundle, int devices, HostAmount hostNeed, List<DeviceOffer> on) {
        return on.stream()
                .map(bundle::needOn)
                .filter(need -> !need.isZero())
                .min(Comparator.naturalOrder())
                .map(need -> new PlacementRequest(
                        devices,
                        need.value(),
                        milli(hostNeed.cpuMilli()),
                        bounded(hostNeed.memory()),
                        new TreeSet<>()));
    }

    private NodeRoom room(List<DeviceOffer> devices) {
        List<DeviceRoom> rooms = devices.stream()
                .map(offer -> new DeviceRoom(
                        offer.id().value(),
                        Math.max(MemoryBytes.MEBIBYTE, offer.most().value()),
                        offer.room().value(),
                        Optional.empty()))
                .toList();
        DeviceOffer first = devices.get(0);
        HostRoom host = hosts.host(first.node()).room();
        int cpuMilli = isAsked(need -> need.cpuMilli().isPresent())
                ? milli(host.cpuMilli().orElse(0))
                : 0;
        MemoryBytes memory = isAsked(need -> need.memory().isPresent())
                ? bounded(host.memory().orElse(MemoryBytes.ZERO))
                : MemoryBytes.ZERO;
        return new NodeRoom(first.node().value(), first.info().name(), cpuMilli, memory, rooms);
    }

    private boolean isAsked(Predicate<HostNeed> what) {
        return what.test(request.wanted().host())
                || usual.stream().anyMatch(other -> what.test(other.wanted().host()));
    }

    private static int milli(long cpuMilli) {
        return (int) Math.min(Integer.MAX_VALUE, cpuMilli);
    }

    /** The board counts in whole MiB, of which it can hold so many. */
    private static MemoryBytes bounded(MemoryBytes memory) {
        return memory.min(MemoryBytes.ofMebibytes(Integer.MAX_VALUE));
    }
}
