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

/**
 * Every node and device the coordinator has heard of, with the newest message about each. Immutable; all of it is soft:
 * the workers say it again.
 *
 * <p>A device belongs to the node that announced it first, for as long as that node is heard; the same device announced
 * by another node is left out, because two owners would be two ledgers. Messages about devices that no node announced
 * change nothing.
 */
public final class ClusterView {
    public static final ClusterView EMPTY = new ClusterView(new TreeMap<>(), new TreeMap<>());

    private final NavigableMap<NodeId, NodeView> nodes;
    private final NavigableMap<DeviceId, NodeId> owners;

    private ClusterView(NavigableMap<NodeId, NodeView> nodes, NavigableMap<DeviceId, NodeId> owners) {
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

    public ClusterView with(LimitsReported report, Instant now) {
        return changing(report.node(), report.device(), now, known -> known.with(new Heard<>(report, now)));
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
        NavigableMap<NodeId, NodeView> rest = new TreeMap<>(nodes);
        rest.values().removeIf(node -> node.heardAt().isBefore(limit));
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
        return Collections.unmodifiableCollection(nodes.values());
    }

    public Optional<NodeView> node(NodeId node) {
        return Optional.ofNullable(nodes.get(node));
    }

    /** All devices, in the order of their ids. */
    public List<DeviceView> devices() {
        return owners.keySet().stream()
                .map(this::device)
                .flatMap(Optional::stream)
                .toList();
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
        NavigableSet<JobId> jobs = new TreeSet<>();
        devices().stream().flatMap(ClusterView::ranksOn).map(RankId::job).forEach(jobs::add);
        return jobs;
    }

    /** The nodes with a device that has not said since {@code notBefore} that it obeys this coordinator. */
    public List<NodeId> nodesToLearnFrom(CoordinatorToken token, Instant notBefore) {
        return nodes.values().stream()
                .filter(node -> node.devices().values().stream()
                        .anyMatch(device -> !device.obeys(token)
                                || device.report()
                                        .filter(heard -> heard.at().isBefore(notBefore))
                                        .isPresent()))
                .map(NodeView::node)
                .toList();
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
        NavigableMap<NodeId, NodeView> all = new TreeMap<>(nodes);
        all.put(node, changed);
        return new ClusterView(all, owners);
    }

    private ClusterView withNode(NodeView node) {
        NavigableMap<NodeId, NodeView> all = new TreeMap<>(nodes);
        Optional<NodeView> before = Optional.ofNullable(all.put(node.node(), node));
        boolean sameDevices = before.filter(
                        known -> known.devices().keySet().equals(node.devices().keySet()))
                .isPresent();
        return new ClusterView(all, sameDevices ? owners : ownersOf(all));
    }

    private static NavigableMap<DeviceId, NodeId> ownersOf(NavigableMap<NodeId, NodeView> nodes) {
        NavigableMap<DeviceId, NodeId> owners = new TreeMap<>();
        nodes.values().forEach(node -> node.devices().keySet().forEach(device -> owners.put(device, node.node())));
        return owners;
    }
}
