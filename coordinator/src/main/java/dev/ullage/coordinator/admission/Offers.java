package dev.ullage.coordinator.admission;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import dev.ullage.coordinator.view.NodeView;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * What all devices of the cluster could give, from what is known of them. Pure.
 *
 * <p>The room of a device is the lesser of what its ledger has not promised and what was measured to be free, less the
 * reserve; of the first, what was reserved and its newest report does not show yet is gone as well.
 *
 * @param rooms the devices node by node, on each by index, and their hosts ({@link HostOffers})
 * @param unknown devices of which the memory or the ledger is not known, in words
 */
record Offers(Rooms rooms, List<String> unknown) {
    Offers {
        unknown = List.copyOf(unknown);
    }

    /**
     * @param draining nodes that take nothing new
     * @param claimed what was reserved, or is being reserved, whether or not the reports show it
     */
    static Offers of(ClusterView view, Set<NodeId> draining, Collection<Reservation> claimed) {
        List<DeviceOffer> devices = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        for (NodeView node : view.nodes()) {
            node.devices().values().stream()
                    .sorted(Comparator.comparingInt(device -> device.info().index()))
                    .forEach(device -> of(device, draining.contains(node.node()), claimed)
                            .ifPresentOrElse(
                                    devices::add,
                                    () -> unknown.add("%s device %d: its ledger has not reported"
                                            .formatted(
                                                    node.node(), device.info().index()))));
        }
        return new Offers(new Rooms(devices, HostOffers.of(view, claimed)), unknown);
    }

    private static Optional<DeviceOffer> of(DeviceView device, boolean isDraining, Collection<Reservation> claimed) {
        return device.report().map(heard -> heard.message().ledger()).map(ledger -> {
            BudgetTerms terms = ledger.inForce();
            MemoryBytes most = most(ledger.wanted()).min(most(terms));
            Optional<MemoryBytes> measured = device.sample()
                    .flatMap(heard -> heard.message().memory())
                    .map(memory -> measuredRoom(memory, terms));
            MemoryBytes room = ledgerRoom(device, ledger, claimed).min(measured.orElse(MemoryBytes.ZERO));
            return new DeviceOffer(
                    device.node(), device.info(), most, room, out(device, ledger, isDraining, measured.isPresent()));
        });
    }

    private static MemoryBytes most(BudgetTerms terms) {
        return terms.allocatable()
                .times(terms.reserve().complement())
                .minusOrZero(terms.pool().orElse(MemoryBytes.ZERO));
    }

    private static MemoryBytes measuredRoom(MemoryUse memory, BudgetTerms terms) {
        MemoryBytes reserve = terms.allocatable()
                .minusOrZero(terms.allocatable().times(terms.reserve().complement()));
        return memory.free().minusOrZero(reserve);
    }

    private static MemoryBytes ledgerRoom(DeviceView device, LedgerReport ledger, Collection<Reservation> claimed) {
        MemoryBytes room =
                ledger.wanted().budget().min(ledger.inForce().budget()).minusOrZero(promised(device, ledger));
        List<ReservationId> shown = ledger.reservations().orElse(List.of()).stream()
                .map(report -> report.reservation().id())
                .toList();
        for (Reservation reservation : claimed) {
            if (!shown.contains(reservation.id())) {
                room = room.minusOrZero(
                        reservation.part(device.id()).map(ReservedPart::amount).orElse(MemoryBytes.ZERO));
            }
        }
        return room;
    }

    /** Ceilings, and what reservations keep beyond those of their own ranks. */
    private static MemoryBytes promised(DeviceView device, LedgerReport ledger) {
        NavigableMap<JobId, MemoryBytes> reserved = new TreeMap<>();
        for (ReservationReport report : ledger.reservations().orElse(List.of())) {
            Reservation reservation = report.reservation();
            reservation
                    .part(device.id())
                    .ifPresent(part -> reserved.merge(reservation.id().job(), part.amount(), MemoryBytes::plus));
        }
        MemoryBytes sum = ceilings(ledger, grant -> true);
        for (Map.Entry<JobId, MemoryBytes> kept : reserved.entrySet()) {
            sum = sum.plus(kept.getValue()
                    .minusOrZero(ceilings(
                            ledger, grant -> grant.instance().rank().job().equals(kept.getKey()))));
        }
        return sum;
    }

    private static MemoryBytes ceilings(LedgerReport ledger, Predicate<GrantReport> which) {
        return ledger.grants().stream()
                .filter(which)
                .map(GrantReport::ceiling)
                .reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }

    /** Why a device takes nothing. */
    private static Optional<String> out(
            DeviceView device, LedgerReport ledger, boolean isDraining, boolean isMeasured) {
        List<String> reasons = new ArrayList<>();
        if (isDraining) {
            reasons.add("its node takes nothing new");
        }
        if (ledger.reservations().isEmpty()) {
            reasons.add("its worker is older and reserves nothing");
        }
        Optional<SampleState> state = device.sampleState();
        if (!state.equals(Optional.of(SampleState.FRESH))) {
            reasons.add(state.map(known -> "its readings are " + known.label()).orElse("it was not read yet"));
        } else if (!isMeasured) {
            reasons.add("its free memory is not known");
        }
        if (ledger.overBudget()) {
            reasons.add("more is promised on it than may be");
        }
        return reasons.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", reasons));
    }
}
