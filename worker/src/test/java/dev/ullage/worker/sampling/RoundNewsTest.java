package dev.ullage.worker.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.sampling.DeviceReaders.Measurement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Who is told of a round of readings: nobody, when it says what the last one said. */
class RoundNewsTest {
    private static final DeviceId DEVICE = new DeviceId("GPU-1");
    private static final MemoryBytes TOTAL = MemoryBytes.of(1000);

    private final RoundNews news = new RoundNews(Duration.ofMillis(100));

    private boolean isNews(Map<DeviceId, Measurement> answers, long now) {
        return news.isNews(answers, true, now);
    }

    private static Map<DeviceId, Measurement> used(long bytes) {
        MemoryBytes used = MemoryBytes.of(bytes);
        MemoryUse memory = new MemoryUse(TOTAL, Optional.of(MemoryBytes.ZERO), used, TOTAL.minus(used));
        return answer(new DeviceReading(Optional.of(memory), Optional.of(List.of()), List.of()));
    }

    private static Map<DeviceId, Measurement> answer(DeviceReading reading) {
        return Map.of(DEVICE, new Measurement(reading, List.of()));
    }

    @Test
    void theFirstIsNewsThenWhatDiffersAndElseOneASecond() {
        List<Integer> told = new ArrayList<>();
        for (int at = 0; at <= 3_000; at += 100) {
            if (isNews(used(at < 1_500 ? 10 : 20), at)) {
                told.add(at);
            }
        }
        assertThat(told).containsExactly(0, 1_000, 1_500, 2_500);
    }

    @Test
    void aBeatThatCameLateDoesNotMakeItTwoSeconds() {
        assertThat(isNews(used(10), 40)).isTrue();
        assertThat(isNews(used(10), 900)).isFalse();
        assertThat(isNews(used(10), 1_000)).isTrue();
    }

    @Test
    void theNextOneIsNewsForWhoeverAsked() {
        isNews(used(10), 0);
        assertThat(isNews(used(10), 100)).isFalse();
        news.next();
        news.next();
        assertThat(isNews(used(10), 200)).isTrue();
        assertThat(isNews(used(10), 300)).isFalse();
    }

    @Test
    void soonIsWhenTheCoordinatorWouldBeTold() {
        isNews(used(10), 0);
        news.soon();
        assertThat(isNews(used(10), 100)).isFalse();
        assertThat(isNews(used(10), 200)).isFalse();
        assertThat(isNews(used(10), 300)).isTrue();
        assertThat(isNews(used(10), 600)).isFalse();

        news.soon();
        assertThat(isNews(used(20), 700)).isTrue();
        assertThat(isNews(used(20), 1_100)).isFalse();
    }

    @Test
    void whatIsNoMeasurementIsNewsEachTimeForEachIsCounted() {
        Map<DeviceId, Measurement> failed =
                answer(new DeviceReading(Optional.empty(), Optional.empty(), List.of("it fails")));
        for (int at = 0; at <= 500; at += 100) {
            assertThat(news.isNews(failed, false, at)).isTrue();
        }
        assertThat(isNews(failed, 600)).as("of a device that is retired").isFalse();
    }

    @Test
    void aDeviceMoreOrLessIsNews() {
        isNews(used(10), 0);
        assertThat(isNews(Map.of(), 100)).isTrue();
        assertThat(isNews(Map.of(), 200)).isFalse();
        assertThat(isNews(used(10), 300)).isTrue();
    }

    @Test
    void atTheUsualPaceEveryRoundIsNews() {
        RoundNews usual = new RoundNews(RoundNews.QUIET_FOR);
        for (int second = 0; second < 5; second++) {
            assertThat(usual.isNews(used(10), true, second * 1_000 + second % 2))
                    .isTrue();
        }
    }

    /** Who hears only the news always knows what was last read, and nothing older than it may be. */
    @Property
    void whoHearsOnlyTheNewsKnowsAll(
            @ForAll @Size(min = 1, max = 60) List<@IntRange(min = 0, max = 2) Integer> amounts,
            @ForAll @IntRange(min = 10, max = 1500) int interval) {
        RoundNews fresh = new RoundNews(Duration.ofMillis(interval));
        int heard = -1;
        long heardAt = 0;
        for (int i = 0; i < amounts.size(); i++) {
            long now = (long) i * interval;
            if (fresh.isNews(used(amounts.get(i)), true, now)) {
                heard = amounts.get(i);
                heardAt = now;
            }
            assertThat(heard).isEqualTo(amounts.get(i));
            assertThat(now - heardAt).isLessThan(RoundNews.QUIET_FOR.toMillis());
        }
    }
}
