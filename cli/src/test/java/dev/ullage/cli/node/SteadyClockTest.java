package dev.ullage.cli.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;

class SteadyClockTest {
    @Test
    void startsAtTheTimeOfDayAndNeverGoesBack() {
        SteadyClock clock = new SteadyClock();
        Instant last = clock.instant();
        assertThat(Duration.between(last, Instant.now()).abs()).isLessThan(Duration.ofSeconds(5));

        for (int i = 0; i < 10_000; i++) {
            Instant now = clock.instant();
            assertThat(now).isAfterOrEqualTo(last);
            last = now;
        }
    }

    @Test
    void hasNoZoneToChange() {
        SteadyClock clock = new SteadyClock();

        assertThat(clock.withZone(ZoneId.of("Asia/Tokyo"))).isSameAs(clock);
    }
}
