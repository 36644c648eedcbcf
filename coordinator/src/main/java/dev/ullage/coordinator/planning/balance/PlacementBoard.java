package dev.ullage.coordinator.planning.balance;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.balance.Placement.Placed;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Nodes, the room on their devices and the requests that have arrived: what policies choose on. Mutable, with a single
 * owner, because a decision among thousands of nodes has to take microseconds; everything on it follows from the calls
 * in their order.
 *
 * <p>Inside, amounts are whole numbers of grains ({@link ShareUnit}); a node's version goes up with each change of it,
 * so that a policy works out again only what changed.
 */
public final class PlacementBoard {
    private static final int MILLI = 1000;

    private final ShareUnit unit;
    private final List<NodeRoom> nodes;
    private final List<String> models = new ArrayList<>();
    private final int[] model;
    private final int[] cpuLeft;
    private final int[] memoryLeft;
    private final int[] version;
    private final int[] first;
    private final int[] left;
    private final boolean[] kept;
    private final int[] reference;
    private final long[] modelCapacity;
    private final Map<PlacementRequest, RequestType> types = new LinkedHashMap<>();
    private final Map<PlacementRequest, Integer> arrivals = new LinkedHashMap<>();
    private final int largestCpu;
    private final int largestDevices;
    private int arrivedCount;
    private long freeGrains;

    private PlacementBoard(ShareUnit unit, List<NodeRoom> nodes) {
        this.unit = unit;
        this.nodes = List.copyOf(nodes);
        int count = nodes.size();
        model = new int[count];
        cpuLeft = new int[count];
        memoryLeft = new int[count];
        version = new int[count];
        kept = new boolean[count];
        first = new int[count + 1];
        left = new int[nodes.stream().mapToInt(node -> node.devices().size()).sum()];
        Map<String, Integer> numbers = new LinkedHashMap<>();
        for (int n = 0; n < count; n++) {
            NodeRoom node = nodes.get(n);
            model[n] = numbers.computeIfAbsent(node.model(), name -> numbers.size());
            cpuLeft[n] = node.cpuMilli();
            memoryLeft[n] = Math.toIntExact(node.hostMemory().value() / MemoryBytes.MEBIBYTE);
            version[n] = 1;
            first[n + 1] = first[n] + node.devices().size();
        }
        largestCpu = nodes.stream().mapToInt(NodeRoom::cpuMilli).max().orElse(0);
        largestDevices = MILLI
                * nodes.stream().mapToInt(node -> node.devices().size()).max().orElse(0);
        models.addAll(numbers.keySet());
        reference = new int[models.size()];
        modelCapacity = new long[models.size()];
        for (int n = 0; n < count; n++) {
            fillDevices(n);
        }
    }

    private void fillDevices(int node) {
        int at = first[node];
        for (DeviceRoom device : nodes.get(node).devices()) {
            left[at] = unit.roomInGrains(device.room());
            freeGrains += left[at++];
            int capacity = unit.roomInGrains(device.capacity());
            reference[model[node]] = Math.max(reference[model[node]], capacity);
            modelCapacity[model[node]] += capacity;
        }
    }

    public static PlacementBoard of(ShareUnit unit, List<NodeRoom> nodes) {
        return new PlacementBoard(unit, nodes);
    }

    public ShareUnit unit() {
        return unit;
    }

    public int nodeCount() {
        return nodes.size();
    }

    public NodeRoom node(int node) {
        return nodes.get(node);
    }

    /** Counts a request among those that have arrived: once for each job, however often a place is looked for. */
    public void arrived(PlacementRequest request) {
        arrivals.merge(request, 1, Integer::sum);
        arrivedCount++;
    }

    public int arrivedCount() {
        return arrivedCount;
    }

    /** Of all that has arrived. */
    public RequestMix arrivedMix() {
        return RequestMix.ofCounts(arrivals);
    }

    /** Takes the room that was chosen. */
    public void take(PlacementRequest request, Placed placed) {
        RequestType type = typeOf(request);
        boolean hasRoom = hosts(placed.node(), type)
                && placed.devices().size() == type.devices()
                && placed.devices().stream().allMatch(device -> grainsOn(placed.node(), device) >= type.grains());
        if (!hasRoom) {
            throw new IllegalStateException("no room on " + placed.nodeName() + " for " + request);
        }
        change(request, placed, 1);
    }

    /** Gives back what was taken. */
    public void giveBack(PlacementRequest request, Placed placed) {
        change(request, placed, -1);
    }

    private void change(PlacementRequest request, Placed placed, int sign) {
        RequestType type = typeOf(request);
        int node = placed.node();
        cpuLeft[node] -= sign * type.cpuMilli();
        memoryLeft[node] -= sign * type.memoryMebibytes();
        for (int device : placed.devices()) {
            left[first[node] + device] -= sign * type.grains();
        }
        freeGrains -= (long) sign * type.devices() * type.grains();
        version[node]++;
    }

    /** What is left on one device, in the board's unit, rounded down to the grain. */
    public long roomOn(int node, int device) {
        return (unit == ShareUnit.BYTES ? MemoryBytes.MEBIBYTE : 1) * left[first[node] + device];
    }

    /** Processor time left on a node, in thousandths of a core. */
    public int cpuMilliOn(int node) {
        return cpuLeft[node];
    }

    RequestType typeOf(PlacementRequest request) {
        RequestType known = types.get(request);
        if (known != null) {
            return known;
        }
        RequestType type = newType(request);
        types.put(request, type);
        return type;
    }

    private RequestType newType(PlacementRequest request) {
        boolean[] allowed = new boolean[models.size()];
        for (int m = 0; m < allowed.length; m++) {
            allowed[m] = request.models().isEmpty() || request.models().contains(models.get(m));
        }
        return new RequestType(
                types.size(),
                request,
                request.devices(),
                unit.needInGrains(request.share()),
                request.cpuMilli(),
                ShareUnit.BYTES.needInGrains(request.hostMemory().value()),
                allowed);
    }

    /** Whether the node has all that a request of this type asks for. */
    boolean hosts(int node, RequestType type) {
        return !kept[node]
                && type.isAllowedOn(model[node])
                && cpuLeft[node] >= type.cpuMilli()
                && memoryLeft[node] >= type.memoryMebibytes()
                && fittingDevices(node, type.grains()) >= type.devices();
    }

    boolean hostsAnywhere(RequestType type) {
        for (int node = 0; node < nodes.size(); node++) {
            if (hosts(node, type)) {
                return true;
            }
        }
        return false;
    }

    boolean allows(int node, RequestType type) {
        return type.isAllowedOn(model[node]);
    }

    /** Keeps a node for a job that waits, or no longer: while it is kept, nothing is placed there. */
    void keep(int node, boolean isKept) {
        kept[node] = isKept;
        version[node]++;
    }

    /** Says what is left on a device where that is not the difference of what was and what was taken. */
    void setGrains(int node, int device, int grains) {
        freeGrains += (long) grains - left[first[node] + device];
        left[first[node] + device] = grains;
        version[node]++;
    }

    /** What was left on a device when the board was made. */
    int grainsAtFirst(int node, int device) {
        return unit.roomInGrains(nodes.get(node).devices().get(device).room());
    }

    int memoryMebibytesAtFirst(int node) {
        return Math.toIntExact(nodes.get(node).hostMemory().value() / MemoryBytes.MEBIBYTE);
    }

    /** The first bound that keeps the type off the node. */
    Optional<Bound> bound(int node, RequestType type) {
        if (kept[node]) {
            return Optional.of(Bound.KEPT);
        }
        if (!type.isAllowedOn(model[node])) {
            return Optional.of(Bound.MODEL);
        }
        if (cpuLeft[node] < type.cpuMilli()) {
            return Optional.of(Bound.CPU);
        }
        if (memoryLeft[node] < type.memoryMebibytes()) {
            return Optional.of(Bound.HOST_MEMORY);
        }
        return fittingDevices(node, type.grains()) < type.devices() ? Optional.of(Bound.DEVICES) : Optional.empty();
    }

    private int fittingDevices(int node, int grains) {
        int fitting = 0;
        for (int at = first[node]; at < first[node + 1]; at++) {
            fitting += left[at] >= grains ? 1 : 0;
        }
        return fitting;
    }

    /** What can keep a request off a node, in the order in which it is looked at. */
    enum Bound {
        KEPT("kept for the first of the queue"),
        MODEL("another model"),
        CPU("too little cpu"),
        HOST_MEMORY("too little host memory"),
        DEVICES("too few devices with that much room");

        private final String text;

        Bound(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }

    /** Processor time of the largest node when it was empty of what this board takes. */
    int largestCpuMilli() {
        return largestCpu;
    }

    /** Devices of the node that has the most, in thousandths of a device. */
    int largestDevicesMilli() {
        return largestDevices;
    }

    List<String> models() {
        return models;
    }

    int modelOf(int node) {
        return model[node];
    }

    /** All grains of all devices of a model. */
    long capacityOf(int modelNumber) {
        return modelCapacity[modelNumber];
    }

    /** What an amount on devices of this model is multiplied by to be in thousandths of its largest device. */
    double milliPerGrain(int modelNumber) {
        return reference[modelNumber] == 0 ? 0 : (double) MILLI / reference[modelNumber];
    }

    /** Grains of the largest device of the model. */
    int wholeDevice(int modelNumber) {
        return reference[modelNumber];
    }

    int versionOf(int node) {
        return version[node];
    }

    int memoryMebibytesOn(int node) {
        return memoryLeft[node];
    }

    int deviceCount(int node) {
        return first[node + 1] - first[node];
    }

    int grainsOn(int node, int device) {
        return left[first[node] + device];
    }

    long grainsOn(int node) {
        long sum = 0;
        for (int at = first[node]; at < first[node + 1]; at++) {
            sum += left[at];
        }
        return sum;
    }

    /** On all devices together. */
    long freeGrains() {
        return freeGrains;
    }

    void copyGrains(int node, int[] to) {
        System.arraycopy(left, first[node], to, 0, deviceCount(node));
    }
}
