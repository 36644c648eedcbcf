package dev.ullage.coordinator.leadership;

import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.atMillis;
import static dev.ullage.coordinator.leadership.LeadershipState.ACTIVE;
import static dev.ullage.coordinator.leadership.LeadershipState.CLAIMING;
import static dev.ullage.coordinator.leadership.LeadershipState.LEARNING;
import static dev.ullage.coordinator.leadership.LeadershipState.STEPPING_DOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.NodeId;
import dev.ullage.config.CoordinatorSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LeadershipTest {
    private static final CoordinatorSettings SETTINGS = CoordinatorSettings.defaults();
    private final Leadership started = Leadership.start("me", T0);

    private static Leadership tick(Leadership leadership, boolean allReported, Instant now) {
        return leadership.onTick(true, allReported, SETTINGS, now);
    }

    private Leadership active() {
        return tick(tick(started, false, atMillis(300)), true, atMillis(500));
    }

    private static CoordinatorToken token(long epoch, String uid) {
        return new CoordinatorToken(epoch, uid);
    }

    @Test
    void eachStateAllowsTheseAndNoOthers() {
        assertThat(CLAIMING.next()).isEqualTo(Set.of(LEARNING, STEPPING_DOWN));
        assertThat(LEARNING.next()).isEqualTo(Set.of(ACTIVE, CLAIMING, STEPPING_DOWN));
        assertThat(ACTIVE.next()).isEqualTo(Set.of(CLAIMING, STEPPING_DOWN));
        assertThat(STEPPING_DOWN.next()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "true,  299, CLAIMING",
        "true,  300, LEARNING",
        "false, 300, CLAIMING",
        "false, 900000, CLAIMING",
    })
    void claimsOnceTheWindowHasPassedAndAWorkerIsKnown(boolean anyWorker, long millis, LeadershipState expected) {
        Leadership next = started.onTick(anyWorker, false, SETTINGS, atMillis(millis));

        assertThat(next.state()).isEqualTo(expected);
        assertThat(next.token().isPresent()).isEqualTo(expected == LEARNING);
    }

    @Test
    void claimsAnEpochAboveTheHighestSeen() {
        Leadership wiser = started.onTokenSeen(token(7, "old"), T0).onTokenSeen(token(4, "older"), T0);

        assertThat(tick(wiser, false, atMillis(300)).token()).contains(token(8, "me"));
        assertThat(tick(started, false, atMillis(300)).token()).contains(token(1, "me"));
    }

    @ParameterizedTest
    @CsvSource({"false, 999, LEARNING", "false, 1000, ACTIVE", "true, 1, ACTIVE"})
    void plansWhenEveryDeviceHasReportedOrTimeIsUp(boolean allReported, long millis, LeadershipState expected) {
        Leadership learning = tick(started, false, atMillis(300));

        assertThat(tick(learning, allReported, atMillis(300 + millis)).state()).isEqualTo(expected);
    }

    @Test
    void aHigherTokenMakesItClaimAgainAboveThat() {
        Leadership fenced = active().onTokenSeen(token(5, "rival"), atMillis(600));

        assertThat(fenced.state()).isEqualTo(CLAIMING);
        assertThat(fenced.token()).isEmpty();
        assertThat(tick(fenced, false, atMillis(1_199)).state()).isEqualTo(CLAIMING);
        assertThat(tick(fenced, false, atMillis(1_200)).token()).contains(token(6, "me"));
    }

    @Test
    void theSameEpochOfAGreaterUidIsHigherAndThatOfASmallerOneIsNot() {
        assertThat(active().onTokenSeen(token(1, "zz"), T0).state()).isEqualTo(CLAIMING);
        assertThat(active().onTokenSeen(token(1, "aa"), T0).state()).isEqualTo(ACTIVE);
        assertThat(active().onTokenSeen(token(1, "me"), T0).state()).isEqualTo(ACTIVE);
    }

    @Test
    void twoThatDuelClaimEverMoreRarely() {
        Leadership leadership = started;
        Instant now = T0;
        long epoch = 0;
        for (long millis : List.of(300L, 600L, 1_200L, 2_400L, 4_800L, 9_600L, 19_200L, 30_000L, 30_000L)) {
            assertThat(leadership.claimAfter(SETTINGS)).isEqualTo(Duration.ofMillis(millis));
            now = now.plusMillis(millis);
            leadership = tick(tick(leadership, false, now), true, now);
            assertThat(leadership.state()).isEqualTo(ACTIVE);
            epoch += 2;
            leadership = leadership.onTokenSeen(token(epoch, "rival"), now);
        }
        assertThat(leadership.lostClaims()).isEqualTo(9);
    }

    @Test
    void aTokenHeldForLongEndsTheDuel() {
        Leadership again = active().onTokenSeen(token(5, "rival"), atMillis(600));
        Leadership held = tick(tick(again, false, atMillis(2_000)), true, atMillis(2_000));

        assertThat(held.onTokenSeen(token(9, "rival"), atMillis(3_000)).lostClaims())
                .isEqualTo(2);
        assertThat(held.onTokenSeen(token(9, "rival"), atMillis(40_000)).lostClaims())
                .isEqualTo(1);
    }

    @Test
    void afterSteppingDownNothingHappensAnyMore() {
        Leadership stopped = active().stepDown(atMillis(700));

        assertThat(tick(stopped, true, atMillis(90_000))).isEqualTo(stopped);
        assertThat(stopped.onTokenSeen(token(5, "rival"), atMillis(800)).state())
                .isEqualTo(STEPPING_DOWN);
        assertThatThrownBy(() -> stopped.stepDown(atMillis(900)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("leadership me: STEPPING_DOWN -> STEPPING_DOWN is not allowed; allowed: []");
    }

    @Test
    void aWorkerIsAskedAgainOnlyAfterAPause() {
        NodeId node = new NodeId("host-a");
        LearnRequests asked = LearnRequests.NONE.asked(node, T0);
        Duration pause = Duration.ofSeconds(2);

        assertThat(LearnRequests.NONE.due(List.of(node), T0, pause)).containsExactly(node);
        assertThat(asked.due(List.of(node), atMillis(1_999), pause)).isEmpty();
        assertThat(asked.due(List.of(node), atMillis(2_000), pause)).containsExactly(node);
        assertThat(asked.wasAsked(node)).isTrue();
        assertThat(asked.forgetting(node).due(List.of(node), T0, pause)).containsExactly(node);
    }
}
