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
 * every round would cost more than reading the device. Each is looked up again now and then, not all in one round. Not
 * thread safe.
 */
final class AncestryCache {
    static final int REFRESH_ROUNDS = 50;

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
        boolean isDue = pid % REFRESH_ROUNDS == round % REFRESH_ROUNDS;
        return before == null || isDue || !before.isVisible() ? Ancestry.of(pid, find) : before;
    }
}
