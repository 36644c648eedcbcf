package dev.ullage.worker.sampling;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Whose the processes on a device are. A process that a rank started is the rank's. One of a rank that is on another
 * device is a stray: this device's ledger promised it nothing, so here it counts like a stranger's. Pure.
 *
 * @param owners the processes of ranks on this device and their children, each with the process of its rank
 * @param problems one sentence for each stray, and one for processes that cannot be seen
 */
public record Attribution(Map<Long, Long> owners, List<String> problems) {

    /** A rank and the device it is on. */
    public record Placed(RankId rank, DeviceId device) {}

    /** @param ranks by process */
    public static Attribution of(
            DeviceId device, DeviceReading reading, List<Ancestry> ancestries, Map<Long, Placed> ranks) {
        Map<Long, Long> owners = new TreeMap<>();
        List<Long> unseen = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        List<ProcessUse> processes = reading.processes().orElse(List.of());
        for (int i = 0; i < processes.size(); i++) {
            ProcessUse process = processes.get(i);
            Ancestry ancestry = ancestry(process.pid(), i, ancestries);
            Optional<Long> rank = ranks.isEmpty() ? Optional.empty() : owner(ancestry, ranks);
            Optional<Placed> owner = rank.map(ranks::get);
            if (rank.isPresent() && owner.isPresent() && owner.get().device().equals(device)) {
                owners.put(process.pid(), rank.get());
            } else if (owner.isPresent()) {
                problems.add(stray(process, owner.get()));
            } else if (!ancestry.isVisible()) {
                unseen.add(process.pid());
            }
        }
        if (!unseen.isEmpty()) {
            problems.add(
                    "processes %s of the driver's list cannot be seen by this worker and count as foreign: they ended"
                                    .formatted(unseen)
                            + " just now, or the worker does not share the host's pid namespace");
        }
        return new Attribution(owners, problems);
    }

    /** They come in the order of the processes, so that each is where it is looked for first. */
    private static Ancestry ancestry(long pid, int place, List<Ancestry> ancestries) {
        if (place < ancestries.size() && ancestries.get(place).pid() == pid) {
            return ancestries.get(place);
        }
        return ancestries.stream()
                .filter(ancestry -> ancestry.pid() == pid)
                .findFirst()
                .orElseGet(() -> new Ancestry(pid, true, List.of()));
    }

    /** The processes that are ranks' or were started by ranks. */
    public Set<Long> ours() {
        return owners.keySet();
    }

    /**
     * What each rank's processes use together, by the rank's own process; a rank with a process of unknown use is left
     * out, and so is one that the driver does not list.
     */
    public Map<Long, MemoryBytes> useByRank(DeviceReading reading) {
        if (owners.isEmpty()) {
            return Map.of();
        }
        Map<Long, MemoryBytes> used = new TreeMap<>();
        Set<Long> unknown = new TreeSet<>();
        for (ProcessUse process : reading.processes().orElse(List.of())) {
            Long rank = owners.get(process.pid());
            if (rank != null) {
                process.used()
                        .ifPresentOrElse(
                                amount -> used.merge(rank, amount, MemoryBytes::plus), () -> unknown.add(rank));
            }
        }
        used.keySet().removeAll(unknown);
        return used;
    }

    /** The process of the nearest rank among the process and its ancestors. */
    private static Optional<Long> owner(Ancestry process, Map<Long, Placed> ranks) {
        if (ranks.containsKey(process.pid())) {
            return Optional.of(process.pid());
        }
        return process.ancestors().stream().filter(ranks::containsKey).findFirst();
    }

    private static String stray(ProcessUse process, Placed owner) {
        return "process %d of rank %s uses %s here, but that rank is on device %s: a stray context, counted as foreign"
                .formatted(
                        process.pid(),
                        owner.rank(),
                        process.used().map(Object::toString).orElse("an unknown amount"),
                        owner.device());
    }
}
