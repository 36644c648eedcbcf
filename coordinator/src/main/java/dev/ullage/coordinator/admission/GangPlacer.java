package dev.ullage.coordinator.admission;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.Extent;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.JobRequest.Wanted;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MigSlice;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.coordinator.planning.balance.DeviceRoom;
import dev.ullage.coordinator.planning.balance.FillPolicy;
import dev.ullage.coordinator.planning.balance.MigSlicePolicy;
import dev.ullage.coordinator.planning.balance.NameGlob;
import dev.ullage.coordinator.planning.balance.NodeRoom;
import dev.ullage.coordinator.planning.balance.Placement.Placed;
import dev.ullage.coordinator.planning.balance.PlacementBoard;
import dev.ullage.coordinator.planning.balance.PlacementPolicy;
import dev.ullage.coordinator.planning.balance.PlacementRequest;
import dev.ullage.coordinator.planning.balance.ShareUnit;
import dev.ullage.coordinator.planning.balance.SpreadPolicy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Devices for all ranks of a job, or for none. Pure.
 *
 * <p>Whether there are enough is counted: the bundles of a request are in one order of difficulty, and a device that is
 * enough for one is enough for every easier one, so they all fit exactly when, for each, as many devices are enough for
 * it as there are bundles at least as hard. Which of them are taken a placement policy chooses: fill, for MIG instances
 * the smallest that do, for a job that is to be spread the nodes that are used least.
 */
final class GangPlacer {
    /** Policies see devices only: nodes do not say what processors and memory of their own are free. */
    private static final int NO_CPU = 0;

    private final JobRequest request;
    private final List<Bundle> bundles;
    private final List<DeviceOffer> offers;

    private GangPlacer(JobRequest request, List<DeviceOffer> offers) {
        this.request = request;
        this.bundles = Bundle.of(request);
        this.offers = offers.stream()
                .filter(offer -> isWanted(request.wanted(), offer))
                .toList();
    }

    /** Whether the request accepts the device at all, whatever is left on it. */
    static boolean isWanted(Wanted wanted, DeviceOffer offer) {
        boolean isMig = offer.info().kind() == DeviceKind.MIG;
        boolean isRightKind = wanted.mig()
                .map(glob -> offer.info()
                        .mig()
                        .flatMap(MigSlice::profile)
                        .map(profile -> NameGlob.matches(glob, profile))
                        .orElse(false))
                .orElse(!isMig);
        return isRightKind
                && wanted.node().map(offer.node()::equals).orElse(true)
                && wanted.model()
                        .map(glob -> NameGlob.matches(glob, offer.info().name()))
                        .orElse(true);
    }

    /** Whether there is room for all ranks. */
    static boolean fits(JobRequest request, List<DeviceOffer> offers) {
        GangPlacer placer = new GangPlacer(request, offers);
        return request.wanted().extent() == Extent.SAME_NODE
                ? !placer.nodesForAll().isEmpty()
                : placer.areEnough(placer.offers);
    }

    /**
     * What is reserved where, in the order of the ranks' numbers; empty when there is not room for all.
     *
     * @param usual what else comes to these devices, for the policies that keep room for it
     */
    static Optional<List<ReservedPart>> place(JobRequest request, List<DeviceOffer> offers, List<JobRequest> usual) {
        return fits(request, offers) ? new GangPlacer(request, offers).place(usual) : Optional.empty();
    }

    private NavigableMap<NodeId, List<DeviceOffer>> nodesForAll() {
        NavigableMap<NodeId, List<DeviceOffer>> nodes = new TreeMap<>();
        offers.forEach(offer ->
                nodes.computeIfAbsent(offer.node(), node -> new ArrayList<>()).add(offer));
        nodes.values().removeIf(devices -> !areEnough(devices));
        return nodes;
    }

    private List<Bundle> hardestFirst() {
        List<Bundle> sorted = new ArrayList<>(bundles);
        sorted.sort(Comparator.comparingLong(Bundle::weight).reversed());
        return sorted;
    }

    private boolean areEnough(List<DeviceOffer> devices) {
        List<Bundle> sorted = hardestFirst();
        if (devices.size() < sorted.size()) {
            return false;
        }
        long enough = 0;
        for (int i = 0; i < sorted.size(); i++) {
            Bundle bundle = sorted.get(i);
            boolean isLike = i > 0 && bundle.equals(sorted.get(i - 1));
            enough = isLike ? enough : devices.stream().filter(bundle::fits).count();
            if (enough <= i) {
                return false;
            }
        }
        return true;
    }

    private Optional<List<ReservedPart>> place(List<JobRequest> usual) {
        Extent extent = request.wanted().extent();
        NavigableMap<NodeId, List<DeviceOffer>> whole =
                extent == Extent.SPREAD ? Collections.emptyNavigableMap() : nodesForAll();
        List<DeviceOffer> from = whole.isEmpty()
                ? offers
                : whole.values().stream().flatMap(List::stream).toList();
        Map<DeviceId, Bundle> chosen = new LinkedHashMap<>();
        List<Bundle> left = hardestFirst();
        while (!left.isEmpty()) {
            Bundle hardest = left.get(0);
            int alike = (int) left.stream().filter(hardest::equals).count();
            List<DeviceOffer> taken = some(hardest, alike, from, chosen, usual);
            if (taken.isEmpty()) {
                return Optional.empty();
            }
            taken.forEach(device -> chosen.put(device.id(), hardest));
            left = left.subList(taken.size(), left.size());
            if (!whole.isEmpty()) {
                from = whole.getOrDefault(taken.get(0).node(), List.of());
            }
        }
        return Optional.of(parts(chosen));
    }

    /** As many devices for bundles of this kind as one node has room for. */
    private List<DeviceOffer> some(
            Bundle bundle, int missing, List<DeviceOffer> from, Map<DeviceId, Bundle> chosen, List<JobRequest> usual) {
        NavigableMap<NodeId, List<DeviceOffer>> nodes = new TreeMap<>();
        for (DeviceOffer offer : from) {
            boolean isFree = !chosen.containsKey(offer.id()) && bundle.fits(offer);
            DeviceOffer as = isFree ? offer : offer.withRoom(MemoryBytes.ZERO);
            nodes.computeIfAbsent(offer.node(), node -> new ArrayList<>()).add(as);
        }
        int largest = nodes.values().stream()
                .mapToInt(devices -> (int) devices.stream().filter(bundle::fits).count())
                .max()
                .orElse(0);
        int most = request.wanted().extent() == Extent.SPREAD ? 1 : missing;
        return largest == 0 ? List.of() : chosenBy(policy(), bundle, Math.min(most, largest), nodes, usual);
    }

    private PlacementPolicy policy() {
        if (request.wanted().extent() == Extent.SPREAD) {
            return new SpreadPolicy();
        }
        return request.wanted().mig().isPresent() ? new MigSlicePolicy() : FillPolicy.online();
    }

    private List<DeviceOffer> chosenBy(
            PlacementPolicy policy,
            Bundle bundle,
            int count,
            NavigableMap<NodeId, List<DeviceOffer>> nodes,
            List<JobRequest> usual) {
        List<List<DeviceOffer>> byPosition = new ArrayList<>(nodes.values());
        PlacementBoard board = PlacementBoard.of(
                ShareUnit.BYTES, byPosition.stream().map(GangPlacer::room).toList());
        // On devices of different sizes a share is as many different amounts. Those that are too small have no room on
        // the board, so the smallest of the others stands for all.
        List<DeviceOffer> all = byPosition.stream().flatMap(List::stream).toList();
        usual.forEach(other -> Bundle.of(other).stream()
                .findFirst()
                .flatMap(some -> onBoard(some, other.devices(), all))
                .ifPresent(board::arrived));
        PlacementRequest wanted = onBoard(
                        bundle, count, all.stream().filter(bundle::fits).toList())
                .orElseThrow();
        board.arrived(wanted);
        if (policy.place(board, wanted) instanceof Placed placed) {
            List<DeviceOffer> node = byPosition.get(placed.node());
            return placed.devices().stream().map(node::get).toList();
        }
        return List.of();
    }

    private static Optional<PlacementRequest> onBoard(Bundle bundle, int devices, List<DeviceOffer> on) {
        return on.stream()
                .map(bundle::needOn)
                .filter(need -> !need.isZero())
                .min(Comparator.naturalOrder())
                .map(need -> new PlacementRequest(devices, need.value(), NO_CPU, MemoryBytes.ZERO, new TreeSet<>()));
    }

    private static NodeRoom room(List<DeviceOffer> devices) {
        List<DeviceRoom> rooms = devices.stream()
                .map(offer -> new DeviceRoom(
                        offer.id().value(),
                        Math.max(MemoryBytes.MEBIBYTE, offer.most().value()),
                        offer.room().value(),
                        Optional.empty()))
                .toList();
        DeviceOffer first = devices.get(0);
        return new NodeRoom(first.node().value(), first.info().name(), NO_CPU, MemoryBytes.ZERO, rooms);
    }

    /** Ranks count up group by group, in each node by node and device by device. */
    private List<ReservedPart> parts(Map<DeviceId, Bundle> chosen) {
        List<ReservedPart> parts = new ArrayList<>();
        Map<DeviceId, Bundle> left = new LinkedHashMap<>(chosen);
        for (Bundle bundle : bundles) {
            DeviceOffer next = offers.stream()
                    .filter(offer -> bundle.equals(left.get(offer.id())))
                    .findFirst()
                    .orElseThrow();
            left.remove(next.id());
            parts.add(new ReservedPart(next.node(), next.id(), bundle.needOn(next), bundle.ranks()));
        }
        return parts;
    }
}
