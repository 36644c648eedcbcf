package dev.ullage.worker.watch;

import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankWatch.CacheRelease;
import dev.ullage.common.model.Share;
import java.util.Optional;

/**
 * Whether a rank is to give its cache back. That costs it the time to take the memory from the device again, so it is
 * asked only when it gains: its memory is fragmented, it caches enough to matter, and somebody else may need it because
 * little of the device is free. One that gained nothing is not asked again until its fragmentation has changed.
 *
 * @param fragmentation from which a rank counts as fragmented
 * @param free of the device's allocatable memory, below which it counts as short
 */
public record CacheAdvice(Share fragmentation, Share free) {
    public static final CacheAdvice DEFAULT = new CacheAdvice(Share.ofPercent(25), Share.ofPercent(10));

    /** A release below this part of what was held gained nothing. */
    private static final Share WORTHWHILE = Share.ofPercent(1);

    private static final Share CHANGED = Share.ofPercent(5);
    private static final long STEPS_BETWEEN = 100;

    /**
     * A rank, now.
     *
     * @param reserved what its allocator holds
     * @param allocated of that, in tensors
     */
    public record Situation(long step, MemoryBytes reserved, MemoryBytes allocated, Share fragmentation) {}

    /**
     * The newest request.
     *
     * @param fragmentation when it was made
     * @param release what it came to; empty while the rank has not said
     */
    public record Asked(long step, Share fragmentation, Optional<CacheRelease> release) {
        public Asked with(CacheRelease answer) {
            return new Asked(step, fragmentation, Optional.of(answer));
        }
    }

    public boolean isToBeAsked(Situation rank, MemoryUse device, Optional<Asked> before) {
        MemoryBytes cached = rank.reserved().minusOrZero(rank.allocated());
        return rank.fragmentation().compareTo(fragmentation) >= 0
                && device.allocatable().times(free).isMoreThan(device.free())
                && cached.isMoreThan(rank.reserved().times(WORTHWHILE))
                && before.map(asked -> mayBeAskedAgain(rank, asked)).orElse(true);
    }

    private static boolean mayBeAskedAgain(Situation rank, Asked asked) {
        boolean isSoon = rank.step() < asked.step() + STEPS_BETWEEN && rank.step() >= asked.step();
        if (isSoon) {
            return false;
        }
        boolean gained = asked.release()
                .map(release -> release.gain().isMoreThan(release.before().times(WORTHWHILE)))
                .orElse(true);
        int change = Math.abs(
                rank.fragmentation().basisPoints() - asked.fragmentation().basisPoints());
        return gained || change >= CHANGED.basisPoints();
    }
}
