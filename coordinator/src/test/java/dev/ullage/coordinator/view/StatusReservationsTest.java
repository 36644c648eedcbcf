package dev.ullage.coordinator.view;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.JOB;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.TOKEN;
import static dev.ullage.coordinator.Fixtures.announced;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.report;
import static dev.ullage.coordinator.Fixtures.settled;
import static dev.ullage.coordinator.Fixtures.terms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.Steering;
import dev.ullage.common.protocol.ToWorker;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.junit.jupiter.api.Test;

/** What a status says of reservations. */
class StatusReservationsTest {
    private static final ReservedPart HERE = new ReservedPart(NODE, DEVICE, gib(4), 2);

    @Test
    void aDeviceShowsItsOwnPartOfAReservationAndNotTheWholeLayout() {
        ReservationId id = new ReservationId(new JobId("gang"), TOKEN, 1);
        ReservedPart elsewhere = new ReservedPart(NODE, new DeviceId("GPU-z"), gib(9), 1);
        Reservation whole = new Reservation(id, Priority.HIGH, List.of(elsewhere, HERE));
        LedgerReport ledger = new LedgerReport(
                terms(gib(80), MemoryBytes.ZERO),
                terms(gib(80), MemoryBytes.ZERO),
                false,
                List.of(),
                KeeperCounts.NONE,
                Optional.empty(),
                Optional.of(List.of(new ReservationReport(whole, true))));
        ClusterView view = ClusterView.EMPTY
                .with(
                        announced(
                                NODE,
                                Optional.empty(),
                                TestInbox.<ToWorker>create().getRef(),
                                DEVICE),
                        T0)
                .with(report(1, ledger), T0);

        DeviceStatus device = new StatusAssembly(NODE, Optional.of(TOKEN), "ACTIVE")
                .assemble(
                        view,
                        new StatusAssembly.Plans(
                                Map.of(),
                                Map.of(),
                                List.of(),
                                List.of(),
                                new Steering(Optional.empty(), Optional.empty(), Optional.empty())),
                        T0)
                .nodes()
                .get(0)
                .devices()
                .get(0);

        assertThat(device.ledger().orElseThrow().reservations().orElseThrow())
                .containsExactly(new ReservationReport(new Reservation(id, Priority.HIGH, List.of(HERE)), true));
    }

    @Test
    void whatIsPromisedIsWhatIsReservedWhereItsRanksHaveLess() {
        ReservationId id = new ReservationId(JOB, TOKEN, 1);
        Reservation reserved = new Reservation(id, Priority.HIGH, List.of(HERE));
        LedgerReport ledger = new LedgerReport(
                terms(gib(80), MemoryBytes.ZERO),
                terms(gib(80), MemoryBytes.ZERO),
                false,
                List.of(settled(0, gib(1)), settled(1, gib(1))),
                KeeperCounts.NONE,
                Optional.empty(),
                Optional.of(List.of(new ReservationReport(reserved, true))));

        assertThat(ledger.promised(DEVICE)).isEqualTo(gib(4));
        assertThat(ledger.promised(new DeviceId("GPU-z"))).isEqualTo(gib(2));
    }
}
