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
import dev.ullage.coordinator.planning.balance.FillPolicy;
import dev.ullage.coordinator.planning.balance.MigSlicePolicy;
import dev.ullage.coordinator.planning.balance.NameGlob;
import dev.ullage.coordinator.planning.balance.PlacementPolicy;
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

/**
 * Devices for all ranks of a job, or for none. Pure.
 *
 * <p>Whether there are enough is counted: the bundles of a request are in one order of difficulty, and a device that is
 * enough for one is enough for every easier one, so they all fit exactly when, for each, as many devices are enough for
 * it as there are bundles at least as hard. Of a node no more of its devices count than its host has room for
 * ({@link HostSeats}). Which of them are taken a placement policy chooses: fill, for MIG instances the smallest that
 * do, for a job that is to be spread the nodes that are used least.
 */
final class GangPlacer {
    private final JobRequest request;
    private final List<Bundle> bundles;
    private final List<DeviceOffer> offers;
    private final Rooms rooms;
    private final HostSeats seats;

    private GangPlacer(JobRequest request, Rooms rooms) {
        this.request = request;
        this.bundles = Bundle.of(request);
        this.rooms = rooms;
        this.seats = HostSeats.of(request, rooms);
        this.offers = rooms.devices().stream()
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
    static boolean fits(JobRequest request, Rooms rooms) {
        GangPlacer placer = new GangPlacer(request, rooms);
        return request.wanted().extent() == Extent.SAME_NODE
                ? !placer.nodesForAll().isEmpty()
                : placer.areEnough(placer.offers);
    }

    /**
     * What is reserved where, in the order of the ranks' numbers; empty when there is not room for all.
     *
     * @param usual what else comes to these devices, for the policies that keep room for it
     */
    static Optional<List<ReservedPart>> place(JobRequest request, Rooms rooms, List<JobRequest> usual) {
        return fits(request, rooms) ? new GangPlacer(request, rooms).place(usual) : Optional.empty();
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
        return seats.areEnough(hardestFirst(), devices)
                || seats.lastFirst(bundles, devices).isPresent();
    }

    /** What was chosen, and what a host has left for more. */
    private record Choice(Map<DeviceId, Bundle> devices, HostSeats seats) {
        Choice with(List<DeviceOffer> taken, Bundle bundle) {
            Map<DeviceId, Bundle> more = new LinkedHashMap<>(devices);
            HostSeats left = seats;
            for (DeviceOffer device : taken) {
                more.put(device.id(), bundle);
                left = left.without(device.node(), bundle.ranks());
            }
            return new Choice(more, left);
        }
    }

    private Optional<List<ReservedPart>> place(List<JobRequest> usual) {
        Extent extent = request.wanted().extent();
        NavigableMap<NodeId, List<DeviceOffer>> whole =
                extent == Extent.SPREAD ? Collections.emptyNavigableMap() : nodesForAll();
        List<DeviceOffer> from = whole.isEmpty()
                ? offers
                : whole.values().stream().flatMap(List::stream).toList();
        return choose(hardestFirst(), new Choice(Map.of(), seats), from, whole, usual)
                .or(() -> seats.lastFirst(bundles, offers)
                        .filter(last -> extent != Extent.SAME_NODE)
                        .flatMap(last -> choose(
                                last.others(hardestFirst()),
                                new Choice(Map.of(last.device().id(), last.bundle()), last.seats()),
                                offers,
                                Collections.emptyNavigableMap(),
                                usual)))
                .map(choice -> parts(choice.devices()));
    }

    /** @param whole if any, the nodes that could take all: the first that is chosen from is the one for all */
    private Optional<Choice> choose(
            List<Bundle> hardestFirst,
            Choice before,
            List<DeviceOffer> allowed,
            NavigableMap<NodeId, List<DeviceOffer>> whole,
            List<JobRequest> usual) {
        Choice chosen = before;
        List<DeviceOffer> from = allowed;
        List<Bundle> left = hardestFirst;
        while (!left.isEmpty()) {
            Bundle hardest = left.get(0);
            int alike = (int) left.stream().filter(hardest::equals).count();
            List<DeviceOffer> taken = some(hardest, alike, from, chosen, usual);
            if (taken.isEmpty()) {
                return Optional.empty();
            }
            chosen = chosen.with(taken, hardest);
            left = left.subList(taken.size(), left.size());
            if (!whole.isEmpty()) {
                from = whole.getOrDefault(taken.get(0).node(), List.of());
            }
        }
        return Optional.of(chosen);
    }

    /** As many devices for bundles of this kind as one node has room for. */
    private List<DeviceOffer> some(
            Bundle bundle, int missing, List<DeviceOffer> from, Choice chosen, List<JobRequest> usual) {
        NavigableMap<NodeId, List<DeviceOffer>> nodes = new TreeMap<>();
        for (DeviceOffer offer : from) {
            boolean isFree = !chosen.devices().containsKey(offer.id())
                    && bundle.fits(offer)
                    && chosen.seats().on(offer.node()) >= bundle.ranks();
            DeviceOffer as = isFree ? offer : offer.withRoom(MemoryBytes.ZERO);
            nodes.computeIfAbsent(offer.node(), node -> new ArrayList<>()).add(as);
        }
        int largest = nodes.entrySet().stream()
                .mapToInt(node -> (int) Math.min(
                        node.getValue().stream().filter(bundle::fits).count(),
                        chosen.seats().on(node.getKey()) / bundle.ranks()))
                .max()
                .orElse(0);
        int most = request.wanted().extent() == Extent.SPREAD ? 1 : missing;
        return largest == 0
                ? List.of()
                : new GangBoard(request, bundle, nodes, hostsLeft(chosen), usual)
                        .choose(policy(), Math.min(most, largest));
    }

    /** What hosts have left beside what was chosen. */
    private Rooms hostsLeft(Choice chosen) {
        if (request.wanted().host().isNone()) {
            return rooms;
        }
        List<ReservedPart> taken = new ArrayList<>();
        offers.forEach(offer -> Optional.ofNullable(chosen.devices().get(offer.id()))
                .ifPresent(bundle ->
                        taken.add(new ReservedPart(offer.node(), offer.id(), bundle.needOn(offer), bundle.ranks()))));
        return rooms.without(List.of(Claim.of(taken, request.wanted().host())));
    }

    private PlacementPolicy policy() {
        if (request.wanted().extent() == Extent.SPREAD) {
            return new SpreadPolicy();
        }
        return request.wanted().mig().isPresent() ? new MigSlicePolicy() : FillPolicy.online();
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
