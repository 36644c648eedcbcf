package dev.ullage.bench;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.balance.DeviceRoom;
import dev.ullage.coordinator.planning.balance.NodeRoom;
import dev.ullage.coordinator.planning.balance.Placement;
import dev.ullage.coordinator.planning.balance.Placement.Placed;
import dev.ullage.coordinator.planning.balance.PlacementBoard;
import dev.ullage.coordinator.planning.balance.PlacementPolicy;
import dev.ullage.coordinator.planning.balance.PlacementRequest;
import dev.ullage.coordinator.planning.balance.PolicyKind;
import dev.ullage.coordinator.planning.balance.RequestMix;
import dev.ullage.coordinator.planning.balance.ShareUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One placement on a cluster that is nine tenths full, with the kinds of nodes of the public trace (1,213 nodes and
 * 6,212 devices at scale 1): a request arrives, is placed, and the job that has been there longest goes.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class PlacementBench {
    private static final int MEBIBYTES_PER_CORE = 4096;
    private static final double FULL = 0.9;
    private static final int REQUESTS = 1 << 14;

    @Param({"FILL", "FGD", "BEST_FIT", "PACK", "SPREAD", "RANDOM"})
    private PolicyKind policy = PolicyKind.FILL;

    @Param({"1", "10"})
    private int scale;

    private final Deque<PlacementRequest> running = new ArrayDeque<>();
    private final Deque<Placed> where = new ArrayDeque<>();
    private List<PlacementRequest> requests = List.of();
    private PlacementBoard board = PlacementBoard.of(ShareUnit.MILLI_DEVICE, List.of());
    private PlacementPolicy placement = (on, request) -> new Placement.Refused(() -> "not set up");
    private int next;

    @Setup
    public void prepare() {
        List<NodeRoom> nodes = nodes();
        requests = requests();
        board = PlacementBoard.of(ShareUnit.MILLI_DEVICE, nodes);
        placement = policy.create(RequestMix.of(requests), 1);
        running.clear();
        where.clear();
        double devices = nodes.stream().mapToInt(node -> node.devices().size()).sum();
        double taken = 0;
        while (taken < FULL * devices * 1000) {
            PlacementRequest request = requests.get(next++ % REQUESTS);
            if (arrive(request) instanceof Placed) {
                taken += request.total();
            }
        }
    }

    private List<NodeRoom> nodes() {
        List<NodeRoom> nodes = new ArrayList<>();
        for (int i = 0; i < scale; i++) {
            add(nodes, 549, "G2", 96, 8);
            add(nodes, 387, "T4", 104, 2);
            add(nodes, 107, "P100", 16, 2);
            add(nodes, 39, "G3", 128, 8);
            add(nodes, 28, "V100M16", 32, 4);
            add(nodes, 43, "V100M32", 96, 8);
            add(nodes, 17, "T4", 96, 4);
            add(nodes, 43, "P100", 8, 1);
        }
        return nodes;
    }

    private static void add(List<NodeRoom> nodes, int count, String model, int cores, int devices) {
        for (int i = 0; i < count; i++) {
            List<DeviceRoom> rooms = new ArrayList<>();
            for (int d = 0; d < devices; d++) {
                rooms.add(DeviceRoom.wholeDevice(nodes.size() + "/" + d));
            }
            MemoryBytes memory = MemoryBytes.ofMebibytes((long) cores * MEBIBYTES_PER_CORE);
            nodes.add(new NodeRoom("node-" + nodes.size(), model, cores * 1000, memory, rooms));
        }
    }

    /** About 150 types, as frequent as in the trace: most for one device or a part of one. */
    private static List<PlacementRequest> requests() {
        SplittableRandom random = new SplittableRandom(1);
        int[] shares = {1000, 1000, 1000, 810, 470, 320, 650, 230, 460, 590};
        int[] cores = {2, 4, 6, 8, 10, 12, 16};
        List<PlacementRequest> requests = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            int kind = random.nextInt(100);
            int devices = kind < 13 ? 0 : kind < 98 ? 1 : 1 << (1 + random.nextInt(3));
            long share = devices == 0 ? 0 : devices > 1 ? 1000 : shares[random.nextInt(shares.length)];
            int cpu = Math.max(1, devices) * cores[random.nextInt(cores.length)] * 1000;
            TreeSet<String> models = new TreeSet<>(random.nextInt(20) == 0 ? List.of("T4") : List.of());
            requests.add(
                    new PlacementRequest(devices, share, Math.min(cpu, 90_000), MemoryBytes.ofMebibytes(cpu), models));
        }
        return requests;
    }

    private Placement arrive(PlacementRequest request) {
        board.arrived(request);
        Placement chosen = placement.place(board, request);
        if (chosen instanceof Placed placed) {
            board.take(request, placed);
            running.add(request);
            where.add(placed);
        }
        return chosen;
    }

    @Benchmark
    public Placement arriveAndLeave() {
        Placement chosen = arrive(requests.get(next++ % REQUESTS));
        if (chosen instanceof Placed) {
            board.giveBack(running.remove(), where.remove());
        }
        return chosen;
    }
}
