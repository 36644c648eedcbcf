package dev.ullage.coordinator.planning;

import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.OperatorRecord;
import dev.ullage.common.protocol.OperatorRecord.Stamp;
import dev.ullage.common.protocol.ToCoordinator.WishesHeld;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** Which worker keeps which record of operators' wishes, by what it announced last. Immutable; soft. */
public final class WishCopies {
    public static final WishCopies NONE = new WishCopies(new TreeMap<>());

    private final NavigableMap<NodeId, Copy> copies;

    private WishCopies(NavigableMap<NodeId, Copy> copies) {
        this.copies = copies;
    }

    /**
     * @param sent the record that was sent last, since it was last known what the worker keeps
     * @param sentAt when
     */
    private record Copy(Optional<Stamp> held, Optional<Stamp> sent, Instant sentAt) {}

    /** @param held empty: it keeps none, for it is older */
    public WishCopies announced(NodeId worker, Optional<WishesHeld> held) {
        Optional<Copy> before = Optional.ofNullable(copies.get(worker));
        if (held.isEmpty()) {
            return before.isEmpty() ? this : forgetting(worker);
        }
        if (before.filter(copy -> copy.held().equals(held.get().stamp())).isPresent()) {
            return this;
        }
        return with(
                worker,
                new Copy(
                        held.get().stamp(),
                        before.flatMap(Copy::sent),
                        before.map(Copy::sentAt).orElse(Instant.MIN)));
    }

    /** It is another process, or gone: what it was sent says nothing any more. */
    public WishCopies forgetting(NodeId worker) {
        NavigableMap<NodeId, Copy> rest = new TreeMap<>(copies);
        rest.remove(worker);
        return new WishCopies(rest);
    }

    /** The workers that keep a newer record than this; it is to be learned from them. */
    public List<NodeId> newerThan(Optional<Stamp> known) {
        return copies.entrySet().stream()
                .filter(copy -> copy.getValue()
                        .held()
                        .filter(held -> known.isEmpty() || known.get().compareTo(held) < 0)
                        .isPresent())
                .map(Map.Entry::getKey)
                .toList();
    }

    /** The workers that are to be sent this record: they lack it, and were not sent it for that long. */
    public List<NodeId> due(OperatorRecord record, Instant now, Duration resendAfter) {
        return copies.entrySet().stream()
                .filter(copy -> record.isNewerThan(copy.getValue().held()))
                .filter(copy -> !copy.getValue().sent().equals(Optional.of(record.stamp()))
                        || !copy.getValue().sentAt().plus(resendAfter).isAfter(now))
                .map(Map.Entry::getKey)
                .toList();
    }

    public WishCopies sent(Collection<NodeId> workers, Stamp stamp, Instant now) {
        if (workers.isEmpty()) {
            return this;
        }
        NavigableMap<NodeId, Copy> changed = new TreeMap<>(copies);
        workers.forEach(worker ->
                changed.computeIfPresent(worker, (node, copy) -> new Copy(copy.held(), Optional.of(stamp), now)));
        return new WishCopies(changed);
    }

    private WishCopies with(NodeId worker, Copy copy) {
        NavigableMap<NodeId, Copy> changed = new TreeMap<>(copies);
        changed.put(worker, copy);
        return new WishCopies(changed);
    }
}
