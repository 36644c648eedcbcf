package dev.ullage.coordinator.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.coordinator.planning.balance.BestFitPolicy;
import dev.ullage.coordinator.planning.balance.DeviceRoom;
import dev.ullage.coordinator.planning.balance.NodeRoom;
import dev.ullage.coordinator.planning.balance.PlacementRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ArrivalProtocolTest {
    private static final NodeRoom NODE = new NodeRoom(
            "n",
            "T4",
            64_000,
            MemoryBytes.ofGibibytes(64),
            List.of(DeviceRoom.wholeDevice("a"), DeviceRoom.wholeDevice("b")));

    private static AllocationCurve run(List<PlacementRequest> requests, long seed) {
        List<TraceJob> jobs = new ArrayList<>();
        requests.forEach(
                request -> jobs.add(new TraceJob("j" + jobs.size(), request, Priority.MEDIUM, OptionalLong.empty())));
        return ArrivalProtocol.run(new Workload("w", List.of(NODE), jobs), new BestFitPolicy(), seed);
    }

    // It is refused whenever it comes, and with most seeds that is early.
    @Test
    void aJobThatNoEmptyClusterHasRoomForIsRefusedAndIsNotTheFirstRefusalOfAnyPolicy() {
        PlacementRequest half = PlacementRequest.ofDevices(1, 500);
        PlacementRequest never = PlacementRequest.ofDevices(4, 100);
        List<PlacementRequest> four = List.of(half, half, half, half, never);
        for (long seed = 1; seed <= 20; seed++) {
            AllocationCurve curve = run(four, seed);
            assertThat(curve.refused()).as("seed %d", seed).isPositive();
            assertThat(curve.firstRefusal()).as("seed %d", seed).matches(first -> Double.isNaN(first) || first > 100);
            assertThat(curve.allocated()[ArrivalProtocol.LAST_PERCENT]).isEqualTo(100);
        }
    }

    @Test
    void aJobThatFindsNoRoomBecauseOfOthersIs() {
        AllocationCurve curve = run(List.of(PlacementRequest.ofDevices(1, 600)), 1);

        assertThat(curve.firstRefusal()).isEqualTo(90);
        assertThat(curve.refused()).isEqualTo(curve.arrived() - 2);
    }
}
