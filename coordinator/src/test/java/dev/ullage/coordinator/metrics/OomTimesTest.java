package dev.ullage.coordinator.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.OomMove;
import dev.ullage.coordinator.http.Statuses;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OomTimesTest {
    private static final String HALVED = "ullage_oom_moves_total{job=bert, level=micro_batch}";
    private static final String COUNT = "ullage_oom_apply_seconds_count";

    private final MetricsPage page = new MetricsPage(false);

    private static OomMove move(long sequence, OomLevel level, String state, long appliedMillis) {
        return Statuses.move("bert", sequence, level, state, appliedMillis);
    }

    private Page see(OomMove... moves) {
        return Page.of(Statuses.withMoves(Statuses.active(Statuses.deviceWithARank()), moves), page);
    }

    private Page by(long epoch, OomMove... moves) {
        ClusterStatus status = Statuses.withMoves(Statuses.active(Statuses.deviceWithARank()), moves);
        return Page.of(
                new ClusterStatus(
                        status.coordinator(),
                        Optional.of(new CoordinatorToken(epoch, "c-1")),
                        status.state(),
                        status.nodes(),
                        status.rollouts(),
                        status.ooms()),
                page);
    }

    @Test
    void eachMoveIsCountedOnceByJobAndLevelAndTimedWhenAllHaveDoneIt() {
        see(move(1, OomLevel.MICRO_BATCH, "ORDERED", -1));
        Page ordered = see(move(1, OomLevel.MICRO_BATCH, "ORDERED", -1));
        assertThat(ordered.get(HALVED)).isEqualTo(1);
        assertThat(ordered.get(COUNT)).isZero();
        assertThat(ordered.get("ullage_oom_directives{state=ordered}")).isEqualTo(1);
        assertThat(ordered.get("ullage_oom_directives{state=done}")).isZero();

        see(move(1, OomLevel.MICRO_BATCH, "DONE", 40));
        Page second = see(
                move(1, OomLevel.MICRO_BATCH, "REPLACED", 40),
                move(2, OomLevel.MICRO_BATCH, "REPLACED", 60),
                move(3, OomLevel.RESTART, "NO_EFFECT", 9_000));
        assertThat(second.get(HALVED)).isEqualTo(2);
        assertThat(second.get("ullage_oom_moves_total{job=bert, level=restart}"))
                .isEqualTo(1);
        assertThat(second.get(COUNT)).isEqualTo(3);
        assertThat(second.get("ullage_oom_apply_seconds_sum")).isEqualTo(9.1);
        assertThat(second.get("ullage_oom_apply_seconds_bucket{le=0.05}")).isEqualTo(1);
        assertThat(second.get("ullage_oom_directives{state=no_effect}")).isEqualTo(1);
    }

    @Test
    void sequencesGoOnUnderAnotherCoordinatorAndAnOlderOnesAnswerCountsForNothing() {
        by(2, move(1, OomLevel.MICRO_BATCH, "DONE", 40));
        by(1, move(9, OomLevel.MICRO_BATCH, "DONE", 40));
        Page last = by(3, move(1, OomLevel.MICRO_BATCH, "REPLACED", -1), move(2, OomLevel.MICRO_BATCH, "DONE", 5));

        assertThat(last.get(HALVED)).isEqualTo(2);
        assertThat(last.get(COUNT)).isEqualTo(2);
    }

    @Test
    void aJobThatBeginsAnewIsCountedFromItsFirstMove() {
        see(move(4, OomLevel.MICRO_BATCH, "DONE", 40));
        Page anew = see(move(1, OomLevel.MICRO_BATCH, "DONE", 40));

        assertThat(anew.get(HALVED)).isEqualTo(2);
        assertThat(anew.get(COUNT)).isEqualTo(2);
    }

    @Test
    void aJobThatIsForgottenLeavesThePage() {
        see(move(1, OomLevel.MICRO_BATCH, "DONE", 40));

        assertThat(see().values()).doesNotContainKey(HALVED).containsEntry("ullage_oom_directives{state=done}", 0.0);
        assertThat(see(move(1, OomLevel.MICRO_BATCH, "DONE", 40)).get(HALVED)).isEqualTo(1);
    }

    // Goal: one that does not speak of moves is not one without any.
    @Test
    void anOlderCoordinatorSaysNothingOfMoves() {
        assertThat(Page.of(Statuses.active(Statuses.deviceWithARank()), page).names())
                .doesNotContain("ullage_oom_directives");
    }
}
