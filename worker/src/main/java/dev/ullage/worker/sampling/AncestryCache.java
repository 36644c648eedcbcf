package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongFunction;

/**
 * Where the processes on one device come from, remembered for as long as they stay on it: looking up hundreds of them
 * every round would cost more than reading the device. Each is looked up again now and then, not all in one round; one
 * that could not be seen sooner, because its number may be given to a process of this host. Not thread safe.
 */
final class AncestryCache {
    static final int REFRESH_ROUNDS = 50;
    static final int LOOK_AGAIN_ROUNDS = 5;

    private final LongFunction<Optional<ProcStatus>> find;
    private Map<Long, Ancestry> known = Map.of();
    private long round;

    AncestryCache(LongFunction<Optional<ProcStatus>> find) {
        this.find = find;
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
        int rounds = before.isVisible() ? REFRESH_ROUNDS : LOOK_AGAIN_ROUNDS;
        return before.pid() % rounds == round % rounds;
    }
}
