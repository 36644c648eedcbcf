package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ClusterJsonTest {
    private static final Instant NOW = Instant.parse("2026-03-01T10:15:30Z");

    @Test
    void theFiguresAreThoseOfThePagesFirstLine() {
        ObjectNode json = ClusterJson.of(
                Statuses.withWishes(Statuses.active(Statuses.deviceWithARank(), Statuses.deviceWithARank())), NOW);

        assertThat(json.path("nodeCount").asInt()).isEqualTo(1);
        assertThat(json.path("drainingCount").asInt()).isEqualTo(1);
        assertThat(json.path("deviceCount").asInt()).isEqualTo(2);
        assertThat(json.path("rankCount").asInt()).isEqualTo(2);
        assertThat(json.path("allocatableBytes").asLong()).isEqualTo(2 * 84_825_604_096L);
        assertThat(json.path("usedBytes").asLong()).isEqualTo(2 * 12_884_901_888L);
        assertThat(json.path("ceilingBytes").asLong()).isEqualTo(2 * 42_949_672_960L);
        // 20 % in force: allocatable - floor(allocatable x 0.8)
        assertThat(json.path("reserveBytes").asLong()).isEqualTo(2 * (84_825_604_096L - 67_860_483_276L));
        assertThat(json.path("overBudgetCount").asInt()).isEqualTo(2);
        assertThat(json.path("stalledCount").asInt()).isZero();
        assertThat(json.path("staleCount").asInt()).isEqualTo(2);
        assertThat(json.path("lostCount").asInt()).isZero();
    }

    @Test
    void aSumOfWhatIsNotKnownIsNull() {
        ObjectNode json = ClusterJson.of(Statuses.active(Statuses.deviceWithARank(), Statuses.silentDevice()), NOW);

        assertThat(json.path("allocatableBytes").isNull()).isTrue();
        assertThat(json.path("usedBytes").isNull()).isTrue();
        assertThat(json.path("reserveBytes").isNull()).isTrue();
        assertThat(json.path("staleCount").asInt()).isEqualTo(2);
        assertThat(ClusterJson.of(Statuses.empty(), NOW).path("usedBytes").asLong(-1))
                .isZero();
    }
}
