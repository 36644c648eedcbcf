package dev.ullage.coordinator.evenness;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankEnforcement.Overhead;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.coordinator.view.ClusterView;
import dev.ullage.coordinator.view.DeviceView;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * How full a device is when each of its ranks holds the most that it holds in a step: what it is at some moment depends
 * on which phases its ranks happen to be in.
 *
 * @param place for people
 * @param capacity what is allocatable, more than zero
 * @param most what may be promised: without the reserve
 * @param needs of each rank on it
 * @param load the needs, and memory of processes that are no rank of ours
 */
record LoadedDevice(
        NodeId node,
        DeviceId device,
        String place,
        MemoryBytes capacity,
        MemoryBytes most,
        NavigableMap<RankInstance, MemoryBytes> needs,
        MemoryBytes load) {

    LoadedDevice {
        needs = Collections.unmodifiableNavigableMap(needs);
    }

    /** @param foreign memory of processes that are no rank of ours */
    LoadedDevice(
            NodeId node,
            DeviceId device,
            String place,
            MemoryBytes capacity,
            MemoryBytes most,
            MemoryBytes foreign,
            NavigableMap<RankInstance, MemoryBytes> needs) {
        this(
                node,
                device,
                place,
                capacity,
                most,
                new TreeMap<>(needs),
                needs.values().stream().reduce(foreign, MemoryBytes::plus));
    }

    /** Those of which all is known now; the others are compared with none. */
    static List<LoadedDevice> of(ClusterView view) {
        List<LoadedDevice> devices = new ArrayList<>();
        view.devices().forEach(device -> of(device).ifPresent(devices::add));
        return devices;
    }

    private static Optional<LoadedDevice> of(DeviceView device) {
        Optional<LedgerReport> ledger =
                device.report().map(heard -> heard.message().ledger());
        Optional<DeviceSampled> sample = device.sample().map(heard -> heard.message());
        boolean isUsable =
                device.sampleState().filter(SampleState.FRESH::equals).isPresent()
                        && sample.filter(one -> one.problems().isEmpty()
                                        && one.foreign().isPresent())
                                .isPresent()
                        && ledger.filter(one -> !one.wanted().allocatable().isZero())
                                .isPresent();
        if (!isUsable) {
            return Optional.empty();
        }
        LedgerReport report = ledger.orElseThrow();
        NavigableMap<RankInstance, MemoryBytes> needs = new TreeMap<>();
        for (RankSample rank : sample.orElseThrow().ranks()) {
            need(rank).ifPresent(bytes -> needs.put(rank.instance(), bytes));
        }
        NavigableSet<RankInstance> promised = new TreeSet<>();
        report.grants().forEach(grant -> promised.add(grant.instance()));
        boolean isKnown = needs.size() == sample.orElseThrow().ranks().size()
                && needs.keySet().equals(promised);
        MemoryBytes capacity = report.wanted().allocatable();
        return isKnown
                ? Optional.of(new LoadedDevice(
                        device.node(),
                        device.id(),
                        "GPU " + device.info().index() + " of " + device.node(),
                        capacity,
                        capacity.times(report.wanted().reserve().complement()),
                        sample.orElseThrow().foreign().orElseThrow(),
                        needs))
                : Optional.empty();
    }

    /**
     * The most it held in the steps that were watched, else since it started; and what its process uses beside that.
     */
    private static Optional<MemoryBytes> need(RankSample rank) {
        RankUse use = rank.use();
        Optional<MemoryBytes> watched = rank.watch().map(RankWatch::phases).stream()
                .flatMap(List::stream)
                .flatMap(peak -> peak.held().stream())
                .reduce(MemoryBytes::max);
        Optional<MemoryBytes> beside =
                rank.enforcement().flatMap(RankEnforcement::overhead).map(Overhead::bytes);
        return watched.or(use::peakReserved)
                .or(use::peakAllocated)
                .map(peak -> peak.plus(beside.orElse(MemoryBytes.ZERO)));
    }

    /** The load by the capacity, in basis points. */
    int fill() {
        return Fill.basisPoints(load, capacity);
    }

    /** What its fill would be with one rank's need less. */
    int fillWithout(MemoryBytes need) {
        return Fill.basisPoints(load.minus(need), capacity);
    }

    /** What it would be with one more. */
    int fillWith(MemoryBytes need) {
        return Fill.basisPoints(load.plus(need), capacity);
    }

    boolean hosts(JobId job) {
        for (RankInstance instance : needs.keySet()) {
            if (instance.rank().job().equals(job)) {
                return true;
            }
        }
        return false;
    }

    LoadedDevice without(RankInstance instance) {
        NavigableMap<RankInstance, MemoryBytes> rest = new TreeMap<>(needs);
        MemoryBytes need = Optional.ofNullable(rest.remove(instance)).orElse(MemoryBytes.ZERO);
        return new LoadedDevice(node, device, place, capacity, most, rest, load.minus(need));
    }

    LoadedDevice with(RankInstance instance, MemoryBytes need) {
        NavigableMap<RankInstance, MemoryBytes> more = new TreeMap<>(needs);
        more.put(instance, need);
        return new LoadedDevice(node, device, place, capacity, most, more, load.plus(need));
    }
}
