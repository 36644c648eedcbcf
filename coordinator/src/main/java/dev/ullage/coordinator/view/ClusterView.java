package dev.ullage.coordinator.view;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankId;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Every node and device the coordinator has heard of, with the newest message about each. Immutable; all of it is soft:
 * the workers say it again.
 *
 * <p>A device belongs to the node that announced it first, for as long as that node is heard; the same device announced
 * by another node is left out, because two owners would be two ledgers. Messages about devices that no node announced
 * change nothing.
 */
public final class ClusterView {
    public static final ClusterView EMPTY = new ClusterView(NodeTable.EMPTY, new TreeMap<>());

    private final NodeTable nodes;
    private final NavigableMap<DeviceId, NodeId> owners;
    // These two follow from the rest: made when first asked for, because most views are replaced before anybody asks.
    private @Nullable List<DeviceView> devices;
    private @Nullable NavigableSet<JobId> jobs;

    private ClusterView(NodeTable nodes, NavigableMap<DeviceId, NodeId> owners) {
        this.nodes = nodes;
        this.owners = owners;
    }

    public ClusterView with(WorkerAnnounced announced, Instant now) {
        NodeId node = announced.node();
        NavigableMap<DeviceId, DeviceView> devices = new TreeMap<>();
        for (DeviceInfo info : announced.devices()) {
            if (ownerOtherThan(node, info.id()).isEmpty()) {
                devices.put(
                        info.id(),
                        deviceOf(node, info.id())
                                .map(known -> known.withInfo(info))
                                .orElseGet(() -> DeviceView.announced(node, info)));
            }
        }
        return withNode(new NodeView(node, now, devices, announced.host()));
    }

    /** Whether a report that the worker made later is known already: what this one says is not so any more. */
    public boolean isOvertaken(LimitsReported report) {
        return deviceOf(report.node(), report.device())
                .flatMap(DeviceView::report)
                .filter(known -> report.isOvertakenBy(known.message()))
                .isPresent();
    }

    public ClusterView with(LimitsReported report, Instant now) {
        return changing(report.node(), report.device(), now, known -> known.with(report, now));
    }

    public ClusterView with(DeviceSampled sample, Instant now) {
        return changing(sample.node(), sample.device(), now, known -> known.withSample(new Heard<>(sample, now)));
    }

    public ClusterView with(DeviceWatched watched, Instant now) {
        return changing(watched.node(), watched.device(), now, known -> known.withQuality(watched.quality()));
    }

    /** Without the nodes that have been silent for longer than {@code forgetAfter}. */
    public ClusterView forgetting(Instant now, Duration forgetAfter) {
        Instant limit = now.minus(forgetAfter);
        if (nodes.values().stream().noneMatch(node -> node.heardAt().isBefore(limit))) {
            return this;
        }
        NodeTable rest = nodes.without(node -> node.heardAt().isBefore(limit));
        return new ClusterView(rest, ownersOf(rest));
    }

    /** The devices of this announcement that another node owns. */
    public List<DeviceId> ownedByOthers(WorkerAnnounced announced) {
        return announced.devices().stream()
                .map(DeviceInfo::id)
                .filter(device -> ownerOtherThan(announced.node(), device).isPresent())
                .toList();
    }

    public Collection<NodeView> nodes() {
        return nodes.values();
    }

    public Optional<NodeView> node(NodeId node) {
        return nodes.get(node);
    }

    /** All devices, in the order of their ids. */
    public List<DeviceView> devices() {
        List<DeviceView> known = devices;
        if (known == null) {
            List<DeviceView> all = new ArrayList<>(owners.size());
            owners.forEach((device, node) -> deviceOf(node, device).ifPresent(all::add));
            known = Collections.unmodifiableList(all);
            devices = known;
        }
        return known;
    }

    public Optional<DeviceView> device(DeviceId device) {
        return Optional.ofNullable(owners.get(device)).flatMap(node -> deviceOf(node, device));
    }

    /** Every rank that some ledger has a grant for. */
    public NavigableSet<RankId> ranks() {
        NavigableSet<RankId> ranks = new TreeSet<>();
        devices().stream().flatMap(ClusterView::ranksOn).forEach(ranks::add);
        return ranks;
    }

    /** How many processes have a grant on the devices of a node. */
    public int ranksOn(NodeId node) {
        return node(node).stream()
                .flatMap(known -> known.devices().values().stream())
                .mapToInt(device -> (int) ranksOn(device).count())
                .sum();
    }

    /** Every job that some ledger has a grant for. */
    public NavigableSet<JobId> jobs() {
        NavigableSet<JobId> known = jobs;
        if (known == null) {
            NavigableSet<JobId> all = new TreeSet<>();
            for (DeviceView device : devices()) {
                device.report().ifPresent(heard -> heard.message()
                        .ledger()
                        .grants()
                        .forEach(grant -> all.add(grant.instance().rank().job())));
            }
            known = Collections.unmodifiableNavigableSet(all);
            jobs = known;
        }
        return known;
    }

    /** The nodes with a device that has not said since {@code notBefore} that it obeys this coordinator. */
    public List<NodeId> nodesToLearnFrom(CoordinatorToken token, Instant notBefore) {
        List<NodeId> missing = new ArrayList<>();
        for (NodeView node : nodes.values()) {
            for (DeviceView device : node.devices().values()) {
                if (!device.obeys(token) || isHeardBefore(device, notBefore)) {
                    missing.add(node.node());
                    break;
                }
            }
        }
        return missing;
    }

    private static boolean isHeardBefore(DeviceView device, Instant notBefore) {
        return device.report().isPresent() && device.report().get().at().isBefore(notBefore);
    }

    private static Stream<RankId> ranksOn(DeviceView device) {
        return device.report().stream()
                .flatMap(heard -> heard.message().ledger().grants().stream())
                .map(grant -> grant.instance().rank());
    }

    private Optional<NodeId> ownerOtherThan(NodeId node, DeviceId device) {
        return Optional.ofNullable(owners.get(device)).filter(owner -> !owner.equals(node));
    }

    private Optional<DeviceView> deviceOf(NodeId node, DeviceId device) {
        return node(node).flatMap(known -> Optional.ofNullable(known.devices().get(device)));
    }

    private ClusterView changing(NodeId node, DeviceId device, Instant now, UnaryOperator<DeviceView> change) {
        Optional<DeviceView> known = deviceOf(node, device);
        if (known.isEmpty()) {
            return this;
        }
        NodeView changed = node(node).orElseThrow().with(change.apply(known.get()), now);
        return new ClusterView(nodes.with(changed), owners);
    }

    private ClusterView withNode(NodeView node) {
        NodeTable all = nodes.with(node);
        boolean sameDevices = node(node.node())
                .filter(known -> known.devices().keySet().equals(node.devices().keySet()))
                .isPresent();
        return new ClusterView(all, sameDevices ? owners : ownersOf(all));
    }

    private static NavigableMap<DeviceId, NodeId> ownersOf(NodeTable nodes) {
        NavigableMap<DeviceId, NodeId> owners = new TreeMap<>();
        nodes.values().forEach(node -> node.devices().keySet().forEach(device -> owners.put(device, node.node())));
        return owners;
    }
}
