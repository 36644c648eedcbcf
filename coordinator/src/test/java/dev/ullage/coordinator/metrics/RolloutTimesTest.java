package dev.ullage.coordinator.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.RolloutStatus;
import dev.ullage.coordinator.http.Statuses;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RolloutTimesTest {
    private final MetricsPage page = new MetricsPage(false);

    @Test
    void eachSettledPlanIsCountedOnceHoweverOftenItIsShown() {
        ClusterStatus status = Statuses.active(Statuses.deviceWithARank());

        Page.of(status, page);
        Page.of(status, page);
        Page third = Page.of(status, page);

        assertThat(third.get("ullage_rollout_seconds_count")).isEqualTo(1);
        assertThat(third.get("ullage_rollout_seconds_sum")).isEqualTo(0.035);
        assertThat(third.get("ullage_rollout_seconds_bucket{le=0.025}")).isZero();
        assertThat(third.get("ullage_rollout_seconds_bucket{le=0.05}")).isEqualTo(1);
        assertThat(third.get("ullage_rollout_seconds_bucket{le=+Inf}")).isEqualTo(1);
    }

    @Test
    void aPlanIsCountedWhenItSettlesAndNotBefore() {
        assertThat(countAfter(rollout("GPU-1", 4, RolloutState.STALLED))).isZero();
        assertThat(countAfter(rollout("GPU-1", 4, RolloutState.SETTLED))).isEqualTo(1);
        assertThat(countAfter(rollout("GPU-1", 5, RolloutState.SUPERSEDED))).isEqualTo(1);
    }

    @Test
    void devicesSettleInAnyOrder() {
        assertThat(countAfter(rollout("GPU-1", 4, RolloutState.SENT), rollout("GPU-2", 5, RolloutState.SETTLED)))
                .isEqualTo(1);
        assertThat(countAfter(rollout("GPU-1", 4, RolloutState.SETTLED), rollout("GPU-2", 5, RolloutState.SETTLED)))
                .isEqualTo(2);
    }

    @Test
    void allPlansOfADeviceThatSettledSinceTheLastScrapeAreCounted() {
        assertThat(countAfter(
                        rollout("GPU-1", 1, RolloutState.SETTLED),
                        rollout("GPU-1", 2, RolloutState.SETTLED),
                        rollout("GPU-1", 3, RolloutState.SUPERSEDED),
                        rollout("GPU-1", 4, RolloutState.SETTLED)))
                .isEqualTo(3);
    }

    @Test
    void anotherCoordinatorStartsItsRevisionsAnew() {
        Page.of(by(1, rollout("GPU-1", 9, RolloutState.SETTLED)), page);
        Page second = Page.of(by(2, rollout("GPU-1", 2, RolloutState.SETTLED)), page);

        assertThat(second.get("ullage_rollout_seconds_count")).isEqualTo(2);
    }

    @Test
    void anAnswerOfAnOlderCoordinatorCountsForNothing() {
        Page.of(by(2, rollout("GPU-1", 2, RolloutState.SETTLED)), page);
        Page.of(by(1, rollout("GPU-1", 9, RolloutState.SETTLED)), page);
        Page last = Page.of(by(2, rollout("GPU-1", 2, RolloutState.SETTLED)), page);

        assertThat(last.get("ullage_rollout_seconds_count")).isEqualTo(1);
    }

    private double countAfter(RolloutStatus... rollouts) {
        return Page.of(by(1, rollouts), page).get("ullage_rollout_seconds_count");
    }

    private static ClusterStatus by(long epoch, RolloutStatus... rollouts) {
        ClusterStatus status = Statuses.active(Statuses.deviceWithARank());
        return new ClusterStatus(
                status.coordinator(),
                Optional.of(new CoordinatorToken(epoch, "c-1")),
                status.state(),
                status.nodes(),
                List.of(rollouts));
    }

    private static RolloutStatus rollout(String device, long revision, RolloutState state) {
        return new RolloutStatus(new DeviceId(device), revision, state, 35, "test");
    }
}
