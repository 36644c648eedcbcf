package dev.ullage.worker.ranks;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.RankInstance;
import java.io.IOException;
import java.util.BitSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * Numbers the ranks of a job on this host where their launcher does not: the lowest number that no living rank of the
 * job has. So no two have the same, whichever comes first; which of them is 0 does not follow the order of the ranks,
 * which nobody here knows before all are there. Thread safe: hellos come on several threads. Soft state: a rank that
 * was given a number here says its device in every later hello.
 */
final class LocalRanks {
    /** More processes than a host runs ranks; one that claims to be many ranks cannot fill the memory. */
    private static final int MOST = 4096;

    private final Map<JobId, Map<RankInstance, Integer>> jobs = new TreeMap<>();
    private final ProcessTable processes;

    LocalRanks(ProcessTable processes) {
        this.processes = processes;
    }

    /**
     * @param said what its launcher says
     * @param isPlaced whether it says its device, so that it needs no number
     */
    synchronized OptionalInt of(RankInstance instance, OptionalInt said, boolean isPlaced) {
        JobId job = instance.rank().job();
        Optional<Integer> before = Optional.ofNullable(jobs.get(job)).map(taken -> taken.get(instance));
        if (said.isEmpty() && before.isEmpty()) {
            if (isPlaced) {
                return OptionalInt.empty();
            }
            forgetGone();
        }
        if (before.isEmpty() && jobs.values().stream().mapToInt(Map::size).sum() >= MOST) {
            forgetGone();
            return said;
        }
        Map<RankInstance, Integer> taken = jobs.computeIfAbsent(job, key -> new TreeMap<>());
        int number = said.orElseGet(() -> before.orElseGet(() -> lowestFree(taken)));
        taken.put(instance, number);
        return OptionalInt.of(number);
    }

    private void forgetGone() {
        jobs.values().forEach(ranks -> ranks.keySet().removeIf(this::isGone));
        jobs.values().removeIf(Map::isEmpty);
    }

    private static int lowestFree(Map<RankInstance, Integer> taken) {
        BitSet numbers = new BitSet();
        taken.values().stream().filter(number -> number < MOST).forEach(numbers::set);
        return numbers.nextClearBit(0);
    }

    /** One that cannot be looked at keeps its number. */
    private boolean isGone(RankInstance instance) {
        try {
            return processes
                    .find(instance.pid())
                    .filter(facts -> facts.startTicks() == instance.startTicks())
                    .isEmpty();
        } catch (IOException e) {
            return false;
        }
    }
}
