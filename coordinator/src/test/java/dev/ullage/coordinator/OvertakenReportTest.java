package dev.ullage.coordinator;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.TOKEN;
import static dev.ullage.coordinator.Fixtures.announced;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.ledger;
import static dev.ullage.coordinator.Fixtures.settled;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.ReportNumber;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.coordinator.planning.RankDemands;
import dev.ullage.coordinator.view.DeviceView;
import dev.ullage.coordinator.view.Heard;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reports that come in another order than they were made in: on the way through the hub, and as answers. */
class OvertakenReportTest {
    private static final GrantReport BEFORE = settled(0, gib(32));
    private static final GrantReport AFTER = settled(0, gib(64));

    private final CoordinatorLogic logic = new CoordinatorLogic(
            CoordinatorSettings.defaults(),
            LimitSettings.defaults(),
            new RankDemands(ObservedPredictor.PHASE_MAX),
            new NodeId("c-1"),
            "me",
            T0);

    @BeforeEach
    void aWorkerIsKnown() {
        logic.onAnnounced(
                announced(NODE, Optional.empty(), TestInbox.<ToWorker>create().getRef(), DEVICE), true, T0);
    }

    private void hears(GrantReport grant, Optional<ReportNumber> number) {
        logic.onReported(new LimitsReported(NODE, DEVICE, Optional.of(TOKEN), 1, ledger(grant), number), T0);
    }

    private void hears(GrantReport grant, long since, long number) {
        hears(grant, Optional.of(new ReportNumber(since, number)));
    }

    private List<GrantReport> known() {
        return logic.view()
                .device(DEVICE)
                .flatMap(DeviceView::report)
                .map(Heard::message)
                .orElseThrow()
                .ledger()
                .grants();
    }

    @Test
    void oneThatWasMadeBeforeTheOneThatIsKnownChangesNothing() {
        hears(AFTER, 7, 12);
        hears(BEFORE, 7, 11);

        assertThat(known()).containsExactly(AFTER);
    }

    @Test
    void oneThatWasMadeLaterCounts() {
        hears(BEFORE, 7, 11);
        hears(AFTER, 7, 12);

        assertThat(known()).containsExactly(AFTER);
    }

    @Test
    void aKeeperThatWasStartedAnewBeginsAgainWhateverItsClockSays() {
        hears(BEFORE, 7, 12);
        hears(AFTER, 6, 1);

        assertThat(known()).containsExactly(AFTER);
    }

    @Test
    void ofAWorkerThatDoesNotCountThemTheLastOneCounts() {
        hears(BEFORE, 7, 12);
        hears(AFTER, Optional.empty());

        assertThat(known()).containsExactly(AFTER);
    }
}
