package dev.ullage.coordinator.simulation;

import dev.ullage.coordinator.planning.balance.BestFitPolicy;
import dev.ullage.coordinator.planning.balance.Fragmentation;
import dev.ullage.coordinator.planning.balance.Placement;
import dev.ullage.coordinator.planning.balance.PlacementBoard;
import dev.ullage.coordinator.planning.balance.PlacementPolicy;
import dev.ullage.coordinator.planning.balance.PlacementRequest;
import dev.ullage.coordinator.planning.balance.ShareUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The protocol of the published runs (Weng et al., USENIX ATC 2023): the jobs shuffled, then more of them drawn with
 * replacement, until 1.3 times the capacity has been asked for; one after the other, nobody leaves; a job that fits
 * nowhere is dropped.
 */
public final class ArrivalProtocol {
    /** Percent of the capacity that is asked for in all. */
    public static final int LAST_PERCENT = 130;

    private static final double TYPICAL = 0.95;

    private final Workload workload;
    private final PlacementBoard board;
    private final Fragmentation measure;
    private final double[] strandedOn;
    private final double capacity;
    private final double[] allocated = new double[LAST_PERCENT + 1];
    private final double[] stranded = new double[LAST_PERCENT + 1];
    private double strandedMilli;
    private double allocatedMilli;
    private double askedMilli;
    private double firstRefusal = Double.NaN;
    private int refused;
    private int arrived;
    private int nextPercent;

    private ArrivalProtocol(Workload workload) {
        this.workload = workload;
        board = PlacementBoard.of(ShareUnit.MILLI_DEVICE, workload.nodes());
        measure = Fragmentation.over(board, workload.mix().covering(TYPICAL));
        strandedOn = new double[board.nodeCount()];
        for (int node = 0; node < strandedOn.length; node++) {
            measureAgain(node);
        }
        capacity = workload.capacityMilli();
    }

    /** @param seed of the order in which jobs arrive; every policy gets the same order for the same seed */
    public static AllocationCurve run(Workload workload, PlacementPolicy policy, long seed) {
        return new ArrivalProtocol(workload).run(policy, new SplittableRandom(seed));
    }

    private AllocationCurve run(PlacementPolicy policy, SplittableRandom random) {
        List<PlacementRequest> requests = new ArrayList<>();
        workload.jobs().forEach(job -> requests.add(job.request()));
        List<PlacementRequest> order = new ArrayList<>(requests);
        for (int i = order.size() - 1; i > 0; i--) {
            PlacementRequest swapped = order.set(random.nextInt(i + 1), order.get(i));
            order.set(i, swapped);
        }
        double end = capacity * LAST_PERCENT / 100;
        for (int i = 0; askedMilli < end; i++) {
            arrive(policy, i < order.size() ? order.get(i) : requests.get(random.nextInt(requests.size())));
        }
        return new AllocationCurve(
                Arrays.copyOf(allocated, allocated.length),
                Arrays.copyOf(stranded, stranded.length),
                firstRefusal,
                refused,
                arrived);
    }

    private void arrive(PlacementPolicy policy, PlacementRequest request) {
        board.arrived(request);
        arrived++;
        askedMilli += request.total();
        if (policy.place(board, request) instanceof Placement.Placed placed) {
            board.take(request, placed);
            allocatedMilli += request.total();
            measureAgain(placed.node());
        } else {
            refused++;
            boolean isFirst = Double.isNaN(firstRefusal) && fitsWhenEmpty(request);
            firstRefusal = isFirst ? 100 * askedMilli / capacity : firstRefusal;
        }
        while (nextPercent <= LAST_PERCENT && askedMilli >= capacity * nextPercent / 100) {
            allocated[nextPercent] = 100 * allocatedMilli / capacity;
            stranded[nextPercent] = 100 * strandedMilli / capacity;
            nextPercent++;
        }
    }

    /** Else no policy could have placed it, and that it was refused says nothing of any. */
    private boolean fitsWhenEmpty(PlacementRequest request) {
        PlacementBoard empty = PlacementBoard.of(ShareUnit.MILLI_DEVICE, workload.nodes());
        return new BestFitPolicy().place(empty, request) instanceof Placement.Placed;
    }

    private void measureAgain(int node) {
        strandedMilli -= strandedOn[node];
        strandedOn[node] = measure.ofNode(node);
        strandedMilli += strandedOn[node];
    }
}
