package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class HostJsonTest {
    private static final NodeId NODE = new NodeId("host-a");
    private static final HostNeed EACH = new HostNeed(Optional.of(MemoryBytes.ofGibibytes(8)), OptionalInt.of(1_500));

    private static DeviceStatus device(String id, HostNeed each, int ranks) {
        DeviceId device = new DeviceId(id);
        Reservation reservation = new Reservation(
                        new ReservationId(new JobId("bert"), new CoordinatorToken(1, "c"), 1),
                        Priority.MEDIUM,
                        List.of(new ReservedPart(NODE, device, MemoryBytes.ofGibibytes(1), ranks)))
                .with(each);
        BudgetTerms terms = new BudgetTerms(MemoryBytes.ofGibibytes(80), Share.NONE, MemoryBytes.ZERO);
        LedgerReport ledger = new LedgerReport(
                terms,
                terms,
                false,
                List.of(),
                KeeperCounts.NONE,
                Optional.empty(),
                Optional.of(List.of(new ReservationReport(reservation, true))));
        return new DeviceStatus(
                new DeviceInfo(device, 0, "H100", DeviceKind.SIMULATED, Optional.empty()),
                Optional.empty(),
                Optional.of(ledger),
                Optional.empty(),
                Optional.empty());
    }

    @Test
    void whatJobsAskedForIsAddedUpOverTheDevices() {
        HostCapacity host = new HostCapacity(OptionalInt.of(16_000), Optional.empty(), Optional.empty());
        NodeStatus node = new NodeStatus(
                NODE,
                0,
                List.of(device("GPU-0", EACH, 2), device("GPU-1", EACH, 1), device("GPU-2", HostNeed.NONE, 1)),
                Optional.of(host));

        assertThat(HostJson.of(node).orElseThrow().toString())
                .isEqualTo("{\"cpuMilli\":16000,\"memoryBytes\":null,\"availableBytes\":null,\"askedCpuMilli\":4500,"
                        + "\"askedMemoryBytes\":" + (24L << 30) + ",\"enforcedBy\":\"advisory\"}");
    }

    @Test
    void whatIsAskedIsNotKnownWhileALedgerHasNotReported() {
        HostCapacity host = new HostCapacity(OptionalInt.of(16_000), Optional.empty(), Optional.empty());
        DeviceStatus silent = new DeviceStatus(
                new DeviceInfo(new DeviceId("GPU-1"), 1, "H100", DeviceKind.SIMULATED, Optional.empty()),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
        NodeStatus node = new NodeStatus(NODE, 0, List.of(device("GPU-0", EACH, 2), silent), Optional.of(host));

        assertThat(HostJson.of(node).orElseThrow().toString())
                .contains("\"askedCpuMilli\":null,\"askedMemoryBytes\":null");
    }

    @Test
    void aNodeThatSaysNothingHasNone() {
        assertThat(HostJson.of(new NodeStatus(NODE, 0, List.of()))).isEmpty();
    }
}
