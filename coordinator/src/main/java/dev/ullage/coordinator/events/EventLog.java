package dev.ullage.coordinator.events;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.EventId;
import dev.ullage.common.protocol.ClusterEvent;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.common.protocol.ToOperator.Events;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The last {@link #KEPT} events of one coordinator. Soft: it begins when the coordinator becomes active, and its first
 * event says so. One owner, not thread safe; the time is passed in.
 */
public final class EventLog {
    /** How many events are kept; with all of them an answer stays far below the largest message between nodes. */
    public static final int KEPT = 1_000;

    private final Deque<ClusterEvent> events = new ArrayDeque<>();
    private Optional<Seen> baseline = Optional.empty();
    private long epoch;
    private long lastSequence;

    /** What the coordinator knows now; what is new since the last time becomes events. */
    public void observe(Seen seen, Instant now) {
        boolean wasActive = baseline.isPresent();
        if (!seen.leadership().isActive()) {
            if (wasActive) {
                add(fenced(seen), now);
            }
            baseline = Optional.empty();
            return;
        }
        if (wasActive) {
            Changes.between(baseline.orElseThrow(), seen).forEach(change -> add(change, now));
        } else {
            begin(seen.leadership().token().orElseThrow(), now, seen);
        }
        baseline = Optional.of(seen);
    }

    /** Something that no comparison shows, such as an operator's write. Before the log began it is not kept. */
    public void add(Change change, Instant now) {
        if (epoch == 0) {
            return;
        }
        if (events.size() == KEPT) {
            events.removeFirst();
        }
        lastSequence++;
        events.addLast(new ClusterEvent(
                new EventId(epoch, lastSequence),
                now.toEpochMilli(),
                change.kind().label(),
                change.severity(),
                change.about(),
                change.text()));
    }

    /** What happened after an event, or everything that is kept. */
    public Events after(Optional<EventId> known) {
        List<ClusterEvent> later = events.stream()
                .filter(event ->
                        known.filter(id -> event.id().compareTo(id) <= 0).isEmpty() || isFromAnother(known))
                .toList();
        return new Events(later, isComplete(known));
    }

    /** A newer epoch than this log's: somebody else's events, or a reader's mistake. */
    private boolean isFromAnother(Optional<EventId> known) {
        return known.filter(id -> id.epoch() > epoch || (id.epoch() == epoch && id.sequence() > lastSequence))
                .isPresent();
    }

    private boolean isComplete(Optional<EventId> known) {
        if (known.isEmpty()) {
            return events.isEmpty() || events.getFirst().id().sequence() == 1;
        }
        EventId id = known.orElseThrow();
        boolean isOurs = id.epoch() == epoch && id.sequence() <= lastSequence;
        return isOurs
                && (events.isEmpty()
                        || id.sequence() + 1 >= events.getFirst().id().sequence());
    }

    /** A claim after a lost one counts on from 1 under a higher epoch; what was before stays to be read. */
    private void begin(CoordinatorToken token, Instant now, Seen seen) {
        boolean isFirst = epoch == 0;
        epoch = token.epoch();
        lastSequence = 0;
        int devices = seen.view().devices().size();
        add(
                Change.info(
                        EventKind.COORDINATOR_ACTIVE,
                        About.node(seen.coordinator()),
                        "the coordinator on " + seen.coordinator() + " plans, as number " + epoch + ", for "
                                + DeviceChanges.count(devices, "device") + " of "
                                + DeviceChanges.count(seen.view().nodes().size(), "node") + " with "
                                + DeviceChanges.count(seen.view().ranks().size(), "rank")
                                + (isFirst ? "; events from before it are not known" : "")),
                now);
    }

    private static Change fenced(Seen seen) {
        return Change.warning(
                EventKind.COORDINATOR_FENCED,
                About.node(seen.coordinator()),
                "the coordinator on " + seen.coordinator() + " plans no more and is "
                        + seen.leadership().state() + ": it met a newer one, or was told to stop");
    }
}
