package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.Identity;
import java.time.Duration;
import java.util.ArrayList;
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
    private static final Duration REFRESH = Duration.ofSeconds(200);
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(5);
    /** Where rounds are long, still not all at once. */
    private static final int FEWEST_ROUNDS = 5;

    private final LongFunction<Optional<ProcStatus>> find;
    private final long refreshRounds;
    private final long lookAgainRounds;
    /**
     * Parents that were looked up, since {@link #parentsSince}: most processes have the same ones. Where a parent came
     * from does not change while it lives.
     */
    private final Map<Long, Optional<ProcStatus>> parents = new TreeMap<>();

    private long parentsSince;

    /** In the order of the reading; the same list for as long as nothing in it changes. */
    private List<Ancestry> known = List.of();

    /** That {@link #known} is of; a probe that finds nothing changed gives the very same list. */
    private List<ProcessUse> processesKnown = List.of();

    private long round;
    /** The next round in which one of {@link #known} is to be looked up again. */
    private long nextDue;

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
        List<ProcessUse> processes = reading.processes().orElse(List.of());
        boolean isAsKnown = isAsKnown(processes);
        if (!isAsKnown || round >= nextDue) {
            forgetParents();
            List<Ancestry> now = isAsKnown ? lookedUpAgain() : lookedUp(processes);
            // Looking again mostly finds the same, and the same list need not be worked through again.
            known = now.equals(known) ? known : now;
            nextDue = nextDue(known);
        }
        processesKnown = processes;
        return known;
    }

    /** Most rounds find the processes of the round before. */
    private boolean isAsKnown(List<ProcessUse> processes) {
        if (Identity.isSame(processes, processesKnown)) {
            return true;
        }
        if (processes.size() != known.size()) {
            return false;
        }
        for (int i = 0; i < processes.size(); i++) {
            if (known.get(i).pid() != processes.get(i).pid()) {
                return false;
            }
        }
        return true;
    }

    private void forgetParents() {
        if (round - parentsSince >= refreshRounds) {
            parents.clear();
            parentsSince = round;
        }
    }

    /** Those of {@link #known} for which it is time. */
    private List<Ancestry> lookedUpAgain() {
        List<Ancestry> found = new ArrayList<>(known.size());
        for (Ancestry before : known) {
            found.add(isDue(before) ? look(before.pid()) : before);
        }
        return List.copyOf(found);
    }

    private List<Ancestry> lookedUp(List<ProcessUse> processes) {
        Map<Long, Ancestry> before = new TreeMap<>();
        known.forEach(ancestry -> before.put(ancestry.pid(), ancestry));
        List<Ancestry> found = new ArrayList<>(processes.size());
        for (ProcessUse process : processes) {
            Ancestry earlier = before.get(process.pid());
            found.add(earlier == null || isDue(earlier) ? look(process.pid()) : earlier);
        }
        return List.copyOf(found);
    }

    private Ancestry look(long pid) {
        return Ancestry.of(pid, find, this::parent);
    }

    private Optional<ProcStatus> parent(long pid) {
        return parents.computeIfAbsent(pid, find::apply);
    }

    private boolean isDue(Ancestry before) {
        return (round - before.pid()) % rounds(before) == 0;
    }

    private long nextDue(List<Ancestry> all) {
        long next = Long.MAX_VALUE;
        for (Ancestry one : all) {
            next = Math.min(next, round + 1 + Math.floorMod(one.pid() - round - 1, rounds(one)));
        }
        return next;
    }

    /** Each is looked up again in a round of its own, so that not all are at once. */
    private long rounds(Ancestry before) {
        return before.isVisible() ? refreshRounds : lookAgainRounds;
    }
}
