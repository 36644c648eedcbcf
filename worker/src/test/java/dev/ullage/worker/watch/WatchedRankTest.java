package dev.ullage.worker.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.CacheRelease;
import dev.ullage.common.model.RankWatch.LeakState;
import dev.ullage.common.model.RankWatch.Snapshot;
import dev.ullage.config.WatchSettings;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** When a rank is asked for its cache, and what is kept of it. */
class WatchedRankTest {
    private static final MemoryUse SHORT = device(5);
    private static final MemoryUse ROOMY = device(50);

    private final WatchedRank rank = new WatchedRank(WatchSettings.defaults());

    private static MemoryUse device(long free) {
        return new MemoryUse(gib(100), Optional.empty(), gib(100 - free), gib(free));
    }

    private static MemoryBytes gib(long gibibytes) {
        return MemoryBytes.ofGibibytes(gibibytes);
    }

    /** 40 GiB are held, half of them in tensors. */
    private void step(long step, long splitGibibytes) {
        step(step, gib(20), gib(splitGibibytes));
    }

    private void step(long step, MemoryBytes allocated, MemoryBytes split) {
        OptionalLong unknown = OptionalLong.empty();
        rank.add(new StepSummary(
                step,
                1,
                unknown,
                List.of(),
                new StepSummary.Amounts(
                        Optional.of(allocated), Optional.of(gib(40)), Optional.empty(), Optional.of(split)),
                new StepSummary.Counts(unknown, unknown, unknown)));
    }

    private static CacheRelease release(long step, long after) {
        return new CacheRelease(step, gib(40), gib(after));
    }

    private RankWatch watch() {
        return rank.watch().orElseThrow();
    }

    @Test
    void itIsAskedForItsCacheOnlyWhenItIsFragmentedAndTheDeviceIsShort() {
        assertThat(rank.isToBeAskedForItsCache(SHORT)).as("nothing is known").isFalse();
        step(1, 5);
        assertThat(rank.isToBeAskedForItsCache(SHORT)).as("12.5%").isFalse();
        step(2, 10);
        assertThat(rank.isToBeAskedForItsCache(ROOMY)).as("there is room").isFalse();
        assertThat(rank.isToBeAskedForItsCache(SHORT)).isTrue();
        assertThat(rank.isToBeAskedForItsCache(SHORT)).as("not twice").isFalse();
    }

    @Test
    void whatHasNoCacheIsNotAsked() {
        step(1, gib(40), gib(10));

        assertThat(rank.isToBeAskedForItsCache(SHORT)).isFalse();
    }

    @Test
    void aReleaseThatGainedNothingIsNotAskedForAgainUntilThingsChange() {
        step(1, 10);
        assertThat(rank.isToBeAskedForItsCache(SHORT)).isTrue();
        rank.add(release(2, 40));
        step(500, 11);
        assertThat(rank.isToBeAskedForItsCache(SHORT))
                .as("as fragmented as it was")
                .isFalse();
        step(501, 13);
        assertThat(rank.isToBeAskedForItsCache(SHORT)).isTrue();
    }

    @Test
    void aReleaseThatGainedIsAskedForAgainButNotSoon() {
        step(1, 10);
        assertThat(rank.isToBeAskedForItsCache(SHORT)).isTrue();
        rank.add(release(2, 30));
        assertThat(watch().release()).contains(release(2, 30));
        assertThat(watch().release().orElseThrow().gain()).isEqualTo(gib(10));
        step(100, 10);
        assertThat(rank.isToBeAskedForItsCache(SHORT)).isFalse();
        step(101, 10);
        assertThat(rank.isToBeAskedForItsCache(SHORT)).isTrue();
    }

    @Test
    void aReleaseThatNobodyAskedForIsNotCounted() {
        step(1, 0);
        rank.add(release(1, 0));

        assertThat(watch().release()).isEmpty();
    }

    @Test
    void onlyTheNewestSnapshotsAreKept() {
        step(1, 0);
        for (long step = 500; step <= 10_000; step += 500) {
            rank.add(new Snapshot(
                    step,
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    OptionalLong.of(step)));
        }

        assertThat(watch().snapshots())
                .hasSize(8)
                .extracting(Snapshot::step)
                .startsWith(6_500L)
                .endsWith(10_000L);
    }

    @Test
    void aLeakIsFoundAndForgottenWithTheTraining() {
        for (long step = 1; step <= 60; step++) {
            step(step, gib(20).plus(MemoryBytes.ofMebibytes(step)), MemoryBytes.ZERO);
        }
        assertThat(watch().leak().state()).isEqualTo(LeakState.SUSPECTED);
        assertThat(watch().leak().bytesPerStep()).hasValue(MemoryBytes.MEBIBYTE);

        step(1, 0);
        assertThat(watch().leak().state()).as("another training").isEqualTo(LeakState.UNKNOWN);
    }
}
