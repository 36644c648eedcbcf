package dev.ullage.worker.turns;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import java.time.Instant;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A job's turn, from the first of its ranks that is let in until the last one that is inside has left. What is kept for
 * each rank is fixed when the turn is given, on all devices at once: a later plan does not change it.
 */
final class Turn {
    private final Instant since;
    private final NavigableMap<RankInstance, Part> parts = new TreeMap<>();
    private final NavigableSet<RankInstance> inside = new TreeSet<>();
    private final NavigableMap<RankInstance, Integer> rounds = new TreeMap<>();

    /** What is kept for one rank. */
    record Part(DeviceId device, MemoryBytes burst) {}

    Turn(Instant since) {
        this.since = since;
    }

    Instant since() {
        return since;
    }

    void keep(RankInstance instance, Part part) {
        parts.put(instance, part);
    }

    Optional<Part> part(RankInstance instance) {
        return Optional.ofNullable(parts.get(instance));
    }

    boolean isOn(DeviceId device) {
        return parts.values().stream().anyMatch(part -> part.device().equals(device));
    }

    MemoryBytes on(DeviceId device) {
        return parts.values().stream()
                .filter(part -> part.device().equals(device))
                .map(Part::burst)
                .reduce(MemoryBytes.ZERO, MemoryBytes::plus);
    }

    boolean isInside(RankInstance instance) {
        return inside.contains(instance);
    }

    boolean isOver() {
        return inside.isEmpty();
    }

    /**
     * Whether a rank may come in although others wait: one that has been in fewer times than a rank of its job, which
     * may be waiting for it in a collective. Nobody gets ahead of the others, so the turn ends.
     */
    boolean isStraggler(RankInstance instance) {
        int most = rounds.values().stream().mapToInt(Integer::intValue).max().orElse(0);
        return rounds.getOrDefault(instance, 0) < most;
    }

    void enter(RankInstance instance) {
        inside.add(instance);
        rounds.merge(instance, 1, Integer::sum);
    }

    void leave(RankInstance instance) {
        inside.remove(instance);
    }

    /** The process is gone, and what was kept for it is free. */
    void forget(RankInstance instance) {
        inside.remove(instance);
        parts.remove(instance);
        rounds.remove(instance);
    }

    /** An equal one that goes its own way from here. */
    Turn copy() {
        Turn copy = new Turn(since);
        copy.parts.putAll(parts);
        copy.inside.addAll(inside);
        copy.rounds.putAll(rounds);
        return copy;
    }

    /** All of it but its age, as text. */
    String encoded() {
        return parts + "" + inside + rounds;
    }

    /** For people: which ranks are in it. */
    String ranks() {
        return inside.stream().map(instance -> instance.rank().toString()).collect(Collectors.joining(", "));
    }
}
