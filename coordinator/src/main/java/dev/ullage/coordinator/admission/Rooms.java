package dev.ullage.coordinator.admission;

import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Devices, and the hosts that they are on, with what each could give a job.
 *
 * @param hosts of one that is not named nothing is known
 */
record Rooms(List<DeviceOffer> devices, NavigableMap<NodeId, HostOffer> hosts) {
    static final Rooms NONE = new Rooms(List.of(), new TreeMap<>());

    Rooms {
        devices = List.copyOf(devices);
        hosts = Collections.unmodifiableNavigableMap(new TreeMap<>(hosts));
    }

    HostOffer host(NodeId node) {
        return hosts.getOrDefault(node, HostOffer.UNKNOWN);
    }

    /** On some of the devices only. */
    Rooms on(Predicate<DeviceOffer> which) {
        return new Rooms(devices.stream().filter(which).toList(), hosts);
    }

    /** With other room. */
    Rooms with(Function<DeviceOffer, MemoryBytes> roomOfDevice, BiFunction<NodeId, HostOffer, HostRoom> roomOfHost) {
        NavigableMap<NodeId, HostOffer> other = new TreeMap<>();
        hosts.forEach((node, host) -> other.put(node, host.withRoom(roomOfHost.apply(node, host))));
        return new Rooms(
                devices.stream()
                        .map(device -> device.withRoom(roomOfDevice.apply(device)))
                        .toList(),
                other);
    }

    /** Without what these take. */
    Rooms without(List<Claim> claims) {
        return claims.isEmpty()
                ? this
                : with(device -> device.room().minusOrZero(onDevice(device, claims)), (node, host) -> host.room()
                        .minus(onHost(node, claims)));
    }

    /** With what these give back. */
    Rooms and(List<Claim> claims) {
        return claims.isEmpty()
                ? this
                : with(device -> device.room().plus(onDevice(device, claims)), (node, host) -> host.room()
                        .plus(onHost(node, claims)));
    }

    /** As if nobody had anything but these. */
    Rooms emptiedBut(List<Claim> claims) {
        return with(device -> device.most().minusOrZero(onDevice(device, claims)), (node, host) -> host.most()
                .minus(onHost(node, claims)));
    }

    private static MemoryBytes onDevice(DeviceOffer device, List<Claim> claims) {
        return claims.stream().map(claim -> claim.on(device.id())).reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }

    private static HostAmount onHost(NodeId node, List<Claim> claims) {
        return claims.stream().map(claim -> claim.on(node)).reduce(HostAmount.NONE, HostAmount::plus);
    }

    /** As if nothing ran on the devices, and all could be had; hosts as they are. */
    Rooms withDevicesAtTheirBest() {
        return new Rooms(devices.stream().map(DeviceOffer::atItsBest).toList(), hosts);
    }

    /** As if nothing ran there, all could be had, and what hosts do not say were without bounds. */
    Rooms atTheirBest() {
        NavigableMap<NodeId, HostOffer> best = new TreeMap<>();
        devices.forEach(device -> best.put(device.node(), host(device.node()).atItsBest()));
        return new Rooms(devices.stream().map(DeviceOffer::atItsBest).toList(), best);
    }
}
