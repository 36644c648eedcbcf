package dev.ullage.worker.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What is looked up, and how often: a file is opened for each. */
class AncestryCacheTest {
    private static final int PROCESSES = 64;
    private static final DeviceReading READING = new DeviceReading(
            Optional.empty(),
            Optional.of(LongStream.range(1000, 1000 + PROCESSES)
                    .mapToObj(pid -> new ProcessUse(pid, Optional.empty()))
                    .toList()),
            List.of());

    private final Set<Long> visible = new TreeSet<>();
    private int lookups;
    private final AncestryCache cache = AncestryCache.every(Duration.ofSeconds(1), this::find);

    private Optional<ProcStatus> find(long pid) {
        lookups++;
        return visible.contains(pid) ? Optional.of(new ProcStatus(pid, 1, List.of(pid))) : Optional.empty();
    }

    private int lookupsOf(int rounds) {
        int before = lookups;
        for (int i = 0; i < rounds; i++) {
            cache.of(READING);
        }
        return lookups - before;
    }

    @Test
    void aKnownProcessIsLookedUpOnceInTwoHundredRounds() {
        LongStream.range(1000, 1000 + PROCESSES).forEach(visible::add);
        assertThat(lookupsOf(1)).isGreaterThanOrEqualTo(PROCESSES);
        assertThat(lookupsOf(200)).isEqualTo(PROCESSES);
    }

    /** Whoever has worked the list through need not do so again. */
    @Test
    void lookingAgainAndFindingTheSameGivesTheSameList() {
        LongStream.range(1000, 1000 + PROCESSES).forEach(visible::add);
        List<Ancestry> first = cache.of(READING);
        for (int round = 0; round < 400; round++) {
            assertThat(cache.of(READING)).isSameAs(first);
        }
        visible.remove(1003L);
        assertThat(IntStream.range(0, 200).mapToObj(round -> cache.of(READING)))
                .last()
                .isNotEqualTo(first);
    }

    @Test
    void oneThatCannotBeSeenIsLookedUpInEveryFifthRoundAndThenKnown() {
        assertThat(lookupsOf(1)).isEqualTo(PROCESSES);
        assertThat(lookupsOf(5)).isEqualTo(PROCESSES);
        visible.add(1003L);
        for (int i = 0; i < 5; i++) {
            cache.of(READING);
        }
        assertThat(cache.of(READING).stream().filter(Ancestry::isVisible).map(Ancestry::pid))
                .containsExactly(1003L);
    }

    @Test
    void howOftenGoesByTimeAndNotByRounds() {
        AncestryCache ten = AncestryCache.every(Duration.ofMillis(100), this::find);
        LongStream.range(1000, 1000 + PROCESSES / 2).forEach(visible::add);
        ten.of(READING);
        int before = lookups;
        // Ten seconds: each of the half that cannot be seen twice, and a twentieth of the other half.
        for (int round = 0; round < 100; round++) {
            ten.of(READING);
        }
        assertThat(lookups - before).isBetween(PROCESSES, PROCESSES + PROCESSES / 2);
    }
}
