package dev.ullage.coordinator.admission;

import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.NodeId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * For how many ranks of a request each host has room: they all ask for as much, so this is one number. Pure.
 *
 * <p>Where all devices are to have as many ranks, whether there is room for all is counted: each node has as many
 * devices as fit and as its host has seats for. That is exact, and whichever devices are taken, the hardest first, the
 * rest finds room too: the devices that are enough for a bundle are enough for each easier one, so taking one of them
 * takes one from every later count. Otherwise one bundle, the last, has fewer ranks: it is placed first, on each node
 * in turn.
 */
record HostSeats(boolean isCounted, NavigableMap<NodeId, Integer> seats) {
    private static final HostSeats UNBOUNDED = new HostSeats(false, new TreeMap<>());

    HostSeats {
        seats = Collections.unmodifiableNavigableMap(new TreeMap<>(seats));
    }

    static HostSeats of(JobRequest request, Rooms rooms) {
        HostNeed each = request.wanted().host();
        if (each.isNone()) {
            return UNBOUNDED;
        }
        NavigableMap<NodeId, Integer> seats = new TreeMap<>();
        rooms.devices()
                .forEach(device -> seats.computeIfAbsent(
                        device.node(), node -> rooms.host(node).room().ranks(each)));
        return new HostSeats(true, seats);
    }

    /** How many ranks more the host has room for. */
    int on(NodeId node) {
        return isCounted ? seats.getOrDefault(node, 0) : Integer.MAX_VALUE;
    }

    HostSeats without(NodeId node, int ranks) {
        if (!isCounted) {
            return this;
        }
        NavigableMap<NodeId, Integer> left = new TreeMap<>(seats);
        left.computeIfPresent(node, (known, count) -> Math.max(0, count - ranks));
        return new HostSeats(true, left);
    }

    /**
     * Whether there is room for all of these. May say no where one bundle has fewer ranks than the others, never yes
     * where there is none.
     */
    boolean areEnough(List<Bundle> hardestFirst, List<DeviceOffer> devices) {
        if (devices.size() < hardestFirst.size()) {
            return false;
        }
        int most =
                isCounted ? hardestFirst.stream().mapToInt(Bundle::ranks).max().orElse(1) : 1;
        long enough = 0;
        for (int i = 0; i < hardestFirst.size(); i++) {
            Bundle bundle = hardestFirst.get(i);
            boolean isLike = i > 0 && bundle.equals(hardestFirst.get(i - 1));
            enough = isLike ? enough : enough(bundle, devices, most);
            if (enough <= i) {
                return false;
            }
        }
        return true;
    }

    private long enough(Bundle bundle, List<DeviceOffer> devices, int ranks) {
        if (!isCounted) {
            return devices.stream().filter(bundle::fits).count();
        }
        Map<NodeId, Integer> fitting = new LinkedHashMap<>();
        devices.stream().filter(bundle::fits).forEach(device -> fitting.merge(device.node(), 1, Integer::sum));
        return fitting.entrySet().stream()
                .mapToLong(node -> Math.min(node.getValue(), on(node.getKey()) / ranks))
                .sum();
    }

    /**
     * A place for the bundle that has fewer ranks than the others.
     *
     * @param seats beside it
     */
    record Last(Bundle bundle, DeviceOffer device, HostSeats seats) {
        List<Bundle> others(List<Bundle> all) {
            List<Bundle> rest = new ArrayList<>(all);
            rest.remove(bundle);
            return rest;
        }

        List<DeviceOffer> without(List<DeviceOffer> devices) {
            return devices.stream()
                    .filter(other -> !other.id().equals(device.id()))
                    .toList();
        }
    }

    /** A place for the last bundle that leaves room for all others; empty where there is none, or it is like them. */
    Optional<Last> lastFirst(List<Bundle> bundles, List<DeviceOffer> devices) {
        Bundle last = bundles.get(bundles.size() - 1);
        Bundle first = bundles.get(0);
        if (!isCounted || last.ranks() >= first.ranks()) {
            return Optional.empty();
        }
        Map<NodeId, DeviceOffer> tightest = new LinkedHashMap<>();
        for (DeviceOffer device : devices) {
            if (last.fits(device) && on(device.node()) >= last.ranks()) {
                tightest.merge(device.node(), device, (one, other) -> first.fits(one) ? other : one);
            }
        }
        return tightest.values().stream()
                .map(device -> new Last(last, device, without(device.node(), last.ranks())))
                .filter(place -> place.seats().areEnough(place.others(bundles), place.without(devices)))
                .findFirst();
    }
}
