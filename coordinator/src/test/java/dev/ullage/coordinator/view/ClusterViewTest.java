package dev.ullage.coordinator.view;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.JOB;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.TOKEN;
import static dev.ullage.coordinator.Fixtures.announced;
import static dev.ullage.coordinator.Fixtures.at;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.joined;
import static dev.ullage.coordinator.Fixtures.ledger;
import static dev.ullage.coordinator.Fixtures.rankId;
import static dev.ullage.coordinator.Fixtures.report;
import static dev.ullage.coordinator.Fixtures.settled;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.Steering;
import dev.ullage.common.protocol.ToWorker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.Test;

class ClusterViewTest {
    private static final NodeId OTHER_NODE = new NodeId("host-b");
    private static final DeviceId OTHER_DEVICE = new DeviceId("GPU-b0");
    private static final CoordinatorToken OTHER_TOKEN = new CoordinatorToken(1, "other");

    private final ActorRef<ToWorker> worker = TestInbox.<ToWorker>create().getRef();
    private final ClusterView one = ClusterView.EMPTY.with(announced(NODE, Optional.empty(), worker, DEVICE), T0);
    private final ClusterView two = one.with(announced(OTHER_NODE, Optional.empty(), worker, OTHER_DEVICE), T0);

    private static DeviceSampled sample(long ageMillis) {
        return new DeviceSampled(
                NODE, DEVICE, ageMillis, Optional.empty(), Optional.of(gib(1)), List.of(), List.of("no totals"));
    }

    @Test
    void keepsTheNewestMessageOfEachDeviceWithTheTimeItCameIn() {
        ClusterView view = one.with(report(1, ledger()), T0).with(report(2, ledger(joined(0))), T0.plusSeconds(1));

        assertThat(view.device(DEVICE).flatMap(DeviceView::report))
                .contains(new Heard<>(report(2, ledger(joined(0))), T0.plusSeconds(1)));
        assertThat(view.ranks()).containsExactly(rankId(0));
        assertThat(view.jobs()).containsExactly(JOB);
    }

    @Test
    void anAnnouncementKeepsWhatIsKnownOfDevicesAndDropsThoseNotNamed() {
        ClusterView view = one.with(report(1, ledger()), T0);

        ClusterView repeated = view.with(announced(NODE, Optional.empty(), worker, DEVICE), T0.plusSeconds(1));
        ClusterView replaced = view.with(announced(NODE, Optional.empty(), worker, OTHER_DEVICE), T0.plusSeconds(1));

        assertThat(repeated.device(DEVICE).flatMap(DeviceView::report)).isPresent();
        assertThat(replaced.devices()).extracting(DeviceView::id).containsExactly(OTHER_DEVICE);
        assertThat(one.devices()).extracting(DeviceView::id).containsExactly(DEVICE);
    }

    @Test
    void messagesAboutDevicesThatNobodyAnnouncedChangeNothing() {
        assertThat(ClusterView.EMPTY.with(report(1, ledger()), T0)).isSameAs(ClusterView.EMPTY);
        assertThat(ClusterView.EMPTY.with(sample(0), T0)).isSameAs(ClusterView.EMPTY);
    }

    @Test
    void aDeviceBelongsToTheNodeThatAnnouncedItFirstUntilThatNodeIsForgotten() {
        var claim = announced(OTHER_NODE, Optional.empty(), worker, DEVICE);

        ClusterView disputed = one.with(claim, T0.plusSeconds(30));
        ClusterView later =
                disputed.forgetting(T0.plusSeconds(61), Duration.ofSeconds(60)).with(claim, T0.plusSeconds(61));

        assertThat(one.ownedByOthers(claim)).containsExactly(DEVICE);
        assertThat(disputed.device(DEVICE).map(DeviceView::node)).contains(NODE);
        assertThat(later.device(DEVICE).map(DeviceView::node)).contains(OTHER_NODE);
    }

    @Test
    void forgetsANodeOnlyAfterItWasSilentForLonger() {
        Duration forgetAfter = Duration.ofSeconds(60);
        ClusterView view = two.with(sample(0), T0.plusSeconds(1));

        assertThat(view.forgetting(at(forgetAfter), forgetAfter)).isSameAs(view);
        assertThat(view.forgetting(at(forgetAfter).plusMillis(1), forgetAfter).nodes())
                .extracting(NodeView::node)
                .containsExactly(NODE);
    }

    @Test
    void learnsFromNodesWithADeviceThatObeysAnotherCoordinatorOrHasNotReportedLately() {
        ClusterView view = two.with(report(1, ledger()), T0);

        assertThat(two.nodesToLearnFrom(TOKEN, T0)).containsExactly(NODE, OTHER_NODE);
        assertThat(view.nodesToLearnFrom(TOKEN, T0)).containsExactly(OTHER_NODE);
        assertThat(view.nodesToLearnFrom(TOKEN, T0.plusMillis(1))).containsExactly(NODE, OTHER_NODE);
        assertThat(view.nodesToLearnFrom(OTHER_TOKEN, T0)).containsExactly(NODE, OTHER_NODE);
    }

    @Test
    void statusShowsEveryNodeWithAgesByTheCoordinatorsOwnClock() {
        ClusterView view = two.with(report(1, ledger(settled(0, gib(64)))), T0).with(sample(40), T0.plusSeconds(1));

        ClusterStatus status = new StatusAssembly(new NodeId("c"), Optional.of(TOKEN), "ACTIVE")
                .assemble(
                        view,
                        new StatusAssembly.Plans(
                                Map.of(DEVICE, RolloutState.SETTLED),
                                Map.of(),
                                List.of(),
                                List.of(),
                                new Steering(Optional.empty(), Optional.empty(), Optional.empty())),
                        T0.plusSeconds(3));

        assertThat(status.nodes()).hasSize(2);
        assertThat(status.nodes().get(0).ageMillis()).isEqualTo(2_000);
        assertThat(status.nodes().get(1).ageMillis()).isEqualTo(3_000);
        DeviceStatus device = status.nodes().get(0).devices().get(0);
        assertThat(device.rollout()).contains(RolloutState.SETTLED);
        assertThat(device.ledger().orElseThrow().grants()).containsExactly(settled(0, gib(64)));
        assertThat(device.sample().orElseThrow().ageMillis()).isEqualTo(2_040);
        assertThat(device.sample().orElseThrow().problems()).containsExactly("no totals");
        DeviceStatus unknown = status.nodes().get(1).devices().get(0);
        assertThat(unknown.sample()).isEmpty();
        assertThat(unknown.ledger()).isEmpty();
        assertThat(unknown.rollout()).isEmpty();
    }
}
