package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongFunction;

/**
 * Where the processes on one device come from, remembered for as long as they stay on it: looking up hundreds of them
 * every round would cost more than reading the device. Each is looked up again now and then, not all in one round; one
 * that could not be seen sooner, because its number may be given to a process of this host. How soon goes by time, not
 * by rounds: short rounds would look up the same processes ten times as often. Not thread safe.
 */
final class AncestryCache {
    private static final Duration REFRESH = Duration.ofSeconds(50);
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(5);
    /** Where rounds are long, still not all at once. */
    private static final int FEWEST_ROUNDS = 5;

    private final LongFunction<Optional<ProcStatus>> find;
    private final long refreshRounds;
    private final long lookAgainRounds;
    private Map<Long, Ancestry> known = Map.of();
    private long round;

    private AncestryCache(long refreshRounds, long lookAgainRounds, LongFunction<Optional<ProcStatus>> find) {
        this.refreshRounds = refreshRounds;
        this.lookAgainRounds = lookAgainRounds;
        this.find = find;
    }

    /** @param interval between two rounds */
    static AncestryCache every(Duration interval, LongFunction<Optional<ProcStatus>> find) {
        return new AncestryCache(rounds(REFRESH, interval), rounds(LOOK_AGAIN, interval), find);
    }

    private static long rounds(Duration time, Duration interval) {
        return Math.max(FEWEST_ROUNDS, time.dividedBy(interval));
    }

    List<Ancestry> of(DeviceReading reading) {
        round++;
        Map<Long, Ancestry> now = new TreeMap<>();
        for (ProcessUse process : reading.processes().orElse(List.of())) {
            now.put(process.pid(), of(process.pid()));
        }
        known = now;
        return List.copyOf(now.values());
    }

    private Ancestry of(long pid) {
        Ancestry before = known.get(pid);
        return before == null || isDue(before) ? Ancestry.of(pid, find) : before;
    }

    private boolean isDue(Ancestry before) {
        long rounds = before.isVisible() ? refreshRounds : lookAgainRounds;
        return before.pid() % rounds == round % rounds;
    }
}
