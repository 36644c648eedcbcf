package dev.ullage.coordinator.admission;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import dev.ullage.coordinator.view.NodeView;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the hosts of a cluster could give jobs, from what is known of them. Pure.
 *
 * <p>A host has what its node says, less what jobs asked for whose room is reserved on its devices, or is being
 * reserved. Of memory no more than was measured to be available, less what those of them asked for of which no rank is
 * there yet: they do not use it yet, and will. What the ranks of the others use is missing from the measure already. As
 * long as the ledger of one of its devices has not reported, nothing is left on it.
 */
final class HostOffers {
    private final ClusterView view;
    private final NavigableMap<NodeId, HostAmount> asked = new TreeMap<>();
    private final NavigableMap<NodeId, HostAmount> toCome = new TreeMap<>();
    private final NavigableMap<ReservationId, NavigableSet<DeviceId>> counted = new TreeMap<>();

    private HostOffers(ClusterView view) {
        this.view = view;
    }

    /** @param claimed what was reserved, or is being reserved, whether or not the reports show it */
    static NavigableMap<NodeId, HostOffer> of(ClusterView view, Collection<Reservation> claimed) {
        HostOffers sums = new HostOffers(view);
        NavigableMap<ReservationId, HostNeed> needs = sums.needs(claimed);
        if (!needs.isEmpty()) {
            sums.count(claimed, needs);
        }
        NavigableMap<NodeId, HostOffer> offers = new TreeMap<>();
        view.nodes().forEach(node -> node.host().ifPresent(host -> offers.put(node.node(), sums.offer(node, host))));
        return offers;
    }

    /** A worker that is older has lost it: then who claims it, or another worker, says it. */
    private NavigableMap<ReservationId, HostNeed> needs(Collection<Reservation> claimed) {
        NavigableMap<ReservationId, HostNeed> needs = new TreeMap<>();
        claimed.forEach(reservation -> reservation.host().ifPresent(need -> needs.put(reservation.id(), need)));
        for (DeviceView device : view.devices()) {
            for (ReservationReport held : reported(device)) {
                Reservation reservation = held.reservation();
                reservation.host().ifPresent(need -> needs.putIfAbsent(reservation.id(), need));
            }
        }
        return needs;
    }

    private void count(Collection<Reservation> claimed, NavigableMap<ReservationId, HostNeed> needs) {
        for (Reservation reservation : claimed) {
            HostNeed need = needs.getOrDefault(reservation.id(), HostNeed.NONE);
            reservation.parts().forEach(part -> count(reservation.id(), part, need));
        }
        for (DeviceView device : view.devices()) {
            for (ReservationReport held : reported(device)) {
                Reservation reservation = held.reservation();
                HostNeed need = needs.getOrDefault(reservation.id(), HostNeed.NONE);
                reservation.part(device.id()).ifPresent(part -> count(reservation.id(), part, need));
            }
        }
    }

    private void count(ReservationId id, ReservedPart part, HostNeed need) {
        if (need.isNone()
                || !counted.computeIfAbsent(id, fresh -> new TreeSet<>()).add(part.device())) {
            return;
        }
        HostAmount amount = HostAmount.of(need, part.ranks());
        asked.merge(part.node(), amount, HostAmount::plus);
        if (!hasRanks(part.node(), id.job())) {
            toCome.merge(part.node(), amount, HostAmount::plus);
        }
    }

    private boolean hasRanks(NodeId node, JobId job) {
        return view.node(node).stream()
                .flatMap(known -> known.devices().values().stream())
                .flatMap(device -> device.report().stream())
                .flatMap(heard -> heard.message().ledger().grants().stream())
                .anyMatch(grant -> grant.instance().rank().job().equals(job));
    }

    private static List<ReservationReport> reported(DeviceView device) {
        return device.report()
                .flatMap(heard -> heard.message().ledger().reservations())
                .orElse(List.of());
    }

    private HostOffer offer(NodeView node, HostCapacity host) {
        HostRoom most = HostRoom.of(host);
        if (node.devices().values().stream().anyMatch(device -> device.report().isEmpty())) {
            // What is reserved on such a device may ask for all of it.
            return new HostOffer(most, most.minus(new HostAmount(Long.MAX_VALUE, MemoryBytes.of(Long.MAX_VALUE))));
        }
        HostRoom left = most.minus(asked.getOrDefault(node.node(), HostAmount.NONE));
        MemoryBytes still = toCome.getOrDefault(node.node(), HostAmount.NONE).memory();
        Optional<MemoryBytes> memory = left.memory().map(bytes -> host.available()
                .map(available -> available.minusOrZero(still))
                .map(bytes::min)
                .orElse(bytes));
        return new HostOffer(most, new HostRoom(left.cpuMilli(), memory));
    }
}
